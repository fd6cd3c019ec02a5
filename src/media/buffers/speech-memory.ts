/** Memory for speech that waits to be sent: blocks that are used again, so that no collection has to free them; pure */
import { FRAME_SAMPLES } from '../audio-stream.ts';

/** A whole number of frames, so that a frame lies in one block: 200 ms. */
export const BLOCK_SAMPLES = 10 * FRAME_SAMPLES;

/** Kept for later at most: 16 MB, about what 500 calls have waiting. What was more is given back to the system. */
const FREE_BLOCKS_MAX = 5_000;

/** `BLOCK_SAMPLES` samples, as they were said. */
export type SpeechBlock = Int16Array<ArrayBuffer>;

/** Where a line has one block of speech as G.711, beside those of other lines. */
export interface EncodedPlace {
  /** The G.711 of this line and of others. */
  readonly bytes: Uint8Array;
  /** The same memory in words of 32 bits. */
  readonly words: Int32Array;
  /** Where this line's is, in bytes: at a whole word. */
  readonly at: number;
}

/** Shared by lines of one thread. Whoever claims something gives it back. */
export class SpeechMemory {
  readonly #pieceBytes: number;
  readonly #freeBlocks: SpeechBlock[] = [];
  readonly #freePlaces: EncodedPlace[] = [];
  #bytes = new Uint8Array(0);
  #words = new Int32Array(0);
  /** Bytes of the newest piece that belong to a place. */
  #usedBytes = 0;

  /**
   * @param options.piecePlaces how many lines have their G.711 in one piece of memory, and so share the views of it; more
   * than one where there are many lines.
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
