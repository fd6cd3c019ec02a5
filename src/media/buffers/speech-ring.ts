/** Speech ring: speech for a media thread in memory shared by two threads; one writer, one reader, no locks. */
import { FRAME_SAMPLES } from '../audio-stream.ts';

/** Crosses between threads; wrap it in a `SpeechRing` on arrival. */
export type SpeechRingBuffer = SharedArrayBuffer;

/** A minute of speech for all sessions of a thread; each message empties its part. A power of two. */
export const SPEECH_RING_SAMPLES = 2 ** 19;

const HEADER_BYTES = 8;
const WRITTEN = 0;
const READ = 1;

/**
 * Audio in messages is allocated by one thread and collected by the other, and collections delay packets. Here a message
 * has only the number of samples.
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

  /** Adds a copy. Only for the writer. @returns false, and adds nothing, when there is no room for all of it. */
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
   * Takes the oldest samples out. Only for the reader.
   *
   * @param take receives them in order, in up to two views that are valid during the call.
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

/** Whole frames: 200 ms. */
export const BLOCK_SAMPLES = 10 * FRAME_SAMPLES;

/** Free blocks that are kept: 16 MB, about what 500 calls have waiting. The rest is left to garbage collection. */
const FREE_BLOCKS_MAX = 5_000;

/** `BLOCK_SAMPLES` samples. */
export type SpeechBlock = Int16Array<ArrayBuffer>;

/** Pool of speech blocks, shared by the sessions of a thread. */
export class SpeechMemory {
  readonly #freeBlocks: SpeechBlock[] = [];

  /** @returns a block; its samples are not cleared. */
  claim(): SpeechBlock {
    return this.#freeBlocks.pop() ?? new Int16Array(BLOCK_SAMPLES);
  }

  release(block: SpeechBlock): void {
    if (this.#freeBlocks.length < FREE_BLOCKS_MAX) this.#freeBlocks.push(block);
  }
}
