/** Memory for speech that waits to be sent: blocks that are used again, so that no collection has to free them; pure */
import { FRAME_SAMPLES } from './audio-stream.ts';

/** A whole number of frames, so that a frame lies in one block: 200 ms. */
export const BLOCK_SAMPLES = 10 * FRAME_SAMPLES;

/** Kept for later at most: 16 MB, about what 500 calls have waiting. What was more is given back to the system. */
const FREE_BLOCKS_MAX = 5_000;

/** Shared by lines of one thread. Whoever claims a block gives it back. */
export class SpeechMemory {
  readonly #free: Int16Array[] = [];

  /** A block of `BLOCK_SAMPLES`, with whatever was in it before. */
  claim(): Int16Array {
    return this.#free.pop() ?? new Int16Array(BLOCK_SAMPLES);
  }

  release(block: Int16Array): void {
    if (this.#free.length < FREE_BLOCKS_MAX) this.#free.push(block);
  }
}
