/** Speech on its way to a media thread, in memory shared by two threads: one writer, one reader, no locks. */
import { FRAME_SAMPLES } from '../audio-stream.ts';
import { encodeG711Into, type G711Law } from '../dsp/g711.ts';

/** What travels between threads; wrap it in a `SpeechRing` on arrival. */
export type SpeechRingBuffer = SharedArrayBuffer;

/** A minute of speech, for all sessions of a thread: each `say` is taken out as soon as its message comes. A power of two. */
export const SPEECH_RING_SAMPLES = 2 ** 19;

const HEADER_BYTES = 8;
const WRITTEN = 0;
const READ = 1;

/**
 * What is handed over in messages has to be allocated by the one thread and collected by the other, which costs
 * collections that hold its packets up. Here only the number of samples travels in the message.
 *
 *     Int32 0  samples written since the ring was made, 32 bits
 *     Int32 1  samples read, likewise
 *     then     the samples, signed 16-bit, position modulo the capacity
 */
export class SpeechRing {
  readonly buffer: SpeechRingBuffer;
  readonly #counts: Int32Array;
  readonly #samples: Int16Array;

  constructor(buffer: SpeechRingBuffer = SpeechRing.allocate()) {
    this.buffer = buffer;
    this.#counts = new Int32Array(buffer, 0, 2);
    this.#samples = new Int16Array(buffer, HEADER_BYTES, SPEECH_RING_SAMPLES);
  }

  static allocate(): SpeechRingBuffer {
    return new SharedArrayBuffer(HEADER_BYTES + SPEECH_RING_SAMPLES * Int16Array.BYTES_PER_ELEMENT);
  }

  /** Adds a copy. For the writer alone. @returns false, and adds nothing, when there is no room for all of it. */
  write(pcm: Int16Array): boolean {
    const written = Atomics.load(this.#counts, WRITTEN);
    const waiting = (written - Atomics.load(this.#counts, READ)) >>> 0;
    if (waiting + pcm.length > SPEECH_RING_SAMPLES) return false;
    const at = placeOf(written);
    const straight = Math.min(pcm.length, SPEECH_RING_SAMPLES - at);
    this.#samples.set(pcm.subarray(0, straight), at);
    if (straight < pcm.length) this.#samples.set(pcm.subarray(straight), 0);
    Atomics.store(this.#counts, WRITTEN, written + pcm.length);
    return true;
  }

  /**
   * Takes out the oldest samples. For the reader alone, which has been told of so many.
   *
   * @param take is given them in order, in up to two views into the ring that are valid during the call only.
   */
  read(length: number, take: (pcm: Int16Array) => void): void {
    const read = Atomics.load(this.#counts, READ);
    const at = placeOf(read);
    const straight = Math.min(length, SPEECH_RING_SAMPLES - at);
    take(this.#samples.subarray(at, at + straight));
    if (straight < length) take(this.#samples.subarray(0, length - straight));
    Atomics.store(this.#counts, READ, read + length);
  }
}

function placeOf(count: number): number {
  return count & (SPEECH_RING_SAMPLES - 1);
}

/** Words of 32 bits in a frame of G.711. */
const FRAME_WORDS = FRAME_SAMPLES / Int32Array.BYTES_PER_ELEMENT;

/** What a block has for its next frame. */
interface BlockInHand {
  readonly block: SpeechBlock;
  /** Samples that are gone. */
  readonly offset: number;
  /** Samples that there are, those included. */
  readonly filled: number;
}

/**
 * Copying a frame takes a sixth of the time that it takes to encode one. And what was said seconds ago lies far from the
 * processor: a block of it is fetched in one go, and its frames then lie near.
 */
export class EncodedBlock {
  /** Where it lies; whoever made this gives it back. */
  readonly place: EncodedPlace;
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  readonly #at: number;
  #law: G711Law = 'PCMU';
  /** Samples of the block that have been encoded. */
  #encoded = 0;

  constructor(place: EncodedPlace) {
    this.place = place;
    this.#bytes = place.bytes;
    this.#words = place.words;
    this.#at = place.at;
  }

  /** Another block comes next. */
  forget(): void {
    this.#encoded = 0;
  }

  /** Copies the next frame, which is there, into the words of `target` from `at` on. */
  copy(law: G711Law, inHand: BlockInHand, target: Int32Array, at: number): void {
    const { offset } = inHand;
    if (law !== this.#law || offset + FRAME_SAMPLES > this.#encoded) this.#encode(law, inHand);
    const from = this.#wordAt(offset);
    for (let index = 0; index < FRAME_WORDS; index += 1) {
      target[at + index] = this.#words[from + index] ?? 0;
    }
  }

  #encode(law: G711Law, { block, offset, filled }: BlockInHand): void {
    const from = law === this.#law ? Math.max(this.#encoded, offset) : offset;
    encodeG711Into(law, block.subarray(from, filled), this.#bytes, this.#at + from);
    this.#law = law;
    this.#encoded = filled;
  }

  #wordAt(offset: number): number {
    return (this.#at + offset) / Int32Array.BYTES_PER_ELEMENT;
  }
}

/** A whole number of frames, so that a frame lies in one block: 200 ms. */
export const BLOCK_SAMPLES = 10 * FRAME_SAMPLES;

/** Kept for later at most: 16 MB, about what 500 calls have waiting. What was more is given back to the system. */
const FREE_BLOCKS_MAX = 5_000;

/** `BLOCK_SAMPLES` samples, as they were said. */
export type SpeechBlock = Int16Array<ArrayBuffer>;

/** Where a session has one block of speech as G.711, beside those of other sessions. */
interface EncodedPlace {
  /** The G.711 of this session and of others. */
  readonly bytes: Uint8Array;
  /** The same memory in words of 32 bits. */
  readonly words: Int32Array;
  /** Where this session's is, in bytes: at a whole word. */
  readonly at: number;
}

/** Shared by sessions of one thread. Whoever claims something gives it back. */
export class SpeechMemory {
  readonly #pieceBytes: number;
  readonly #freeBlocks: SpeechBlock[] = [];
  readonly #freePlaces: EncodedPlace[] = [];
  #bytes = new Uint8Array(0);
  #words = new Int32Array(0);
  /** Bytes of the newest piece that belong to a place. */
  #usedBytes = 0;

  /**
   * @param options.piecePlaces how many sessions have their G.711 in one piece of memory, and so share the views of it; more
   * than one where there are many sessions.
   */
  constructor({ piecePlaces = 1 }: { readonly piecePlaces?: number } = {}) {
    this.#pieceBytes = piecePlaces * BLOCK_SAMPLES;
  }

  /** A block with whatever was in it before. */
  claim(): SpeechBlock {
    return this.#freeBlocks.pop() ?? new Int16Array(BLOCK_SAMPLES);
  }

  release(block: SpeechBlock): void {
    if (this.#freeBlocks.length < FREE_BLOCKS_MAX) this.#freeBlocks.push(block);
  }

  /** A place with whatever was in it before. */
  claimPlace(): EncodedPlace {
    return this.#freePlaces.pop() ?? this.#makePlace();
  }

  releasePlace(place: EncodedPlace): void {
    this.#freePlaces.push(place);
  }

  #makePlace(): EncodedPlace {
    if (this.#usedBytes === this.#bytes.length) {
      this.#bytes = new Uint8Array(this.#pieceBytes);
      this.#words = new Int32Array(this.#bytes.buffer);
      this.#usedBytes = 0;
    }
    const at = this.#usedBytes;
    this.#usedBytes += BLOCK_SAMPLES;
    return { bytes: this.#bytes, words: this.#words, at };
  }
}
