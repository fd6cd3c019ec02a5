/** Memory for speech that waits to be sent: blocks that are used again, so that no collection has to free them; pure */
import { FRAME_SAMPLES } from './audio-stream.ts';
import type { G711Law } from './g711.ts';

/** A whole number of frames, so that a frame lies in one block: 200 ms. */
export const BLOCK_SAMPLES = 10 * FRAME_SAMPLES;

/** Words of 32 bits in a frame of G.711. */
export const FRAME_WORDS = FRAME_SAMPLES / Int32Array.BYTES_PER_ELEMENT;

/** Kept for later at most: 24 MB, about what 500 calls have waiting. What was more is given back to the system. */
const FREE_BLOCKS_MAX = 5_000;

/**
 * Speech as it was said, and beside it as the far end is sent it: a frame of that is copied in a sixth of the time that
 * it takes to encode it, and half as much memory has to be fetched.
 */
export interface SpeechBlock {
  /** `BLOCK_SAMPLES` samples. */
  readonly pcm: Int16Array;
  /** Which law the G.711 has; undefined where there is none, or not for all of the samples. */
  law: G711Law | undefined;
  /** The G.711 of this block and of others. */
  readonly bytes: Uint8Array;
  /** The same memory in words of 32 bits. */
  readonly words: Int32Array;
  /** Where this block's is, in bytes: at a whole word. */
  readonly at: number;
}

/** Shared by lines of one thread. Whoever claims a block gives it back. */
export class SpeechMemory {
  readonly #pieceBytes: number;
  readonly #free: SpeechBlock[] = [];
  #bytes = new Uint8Array(0);
  #words = new Int32Array(0);
  /** Bytes of the newest piece that belong to a block. */
  #usedBytes = 0;

  /**
   * @param options.pieceBlocks how many blocks have their G.711 in one piece of memory, and so share the views of it; more
   * than one where there are many lines.
   */
  constructor({ pieceBlocks = 1 }: { readonly pieceBlocks?: number } = {}) {
    this.#pieceBytes = pieceBlocks * BLOCK_SAMPLES;
  }

  /** A block with whatever was in it before. */
  claim(): SpeechBlock {
    return this.#free.pop() ?? this.#make();
  }

  release(block: SpeechBlock): void {
    if (this.#free.length < FREE_BLOCKS_MAX) this.#free.push(block);
  }

  #make(): SpeechBlock {
    if (this.#usedBytes === this.#bytes.length) {
      this.#bytes = new Uint8Array(this.#pieceBytes);
      this.#words = new Int32Array(this.#bytes.buffer);
      this.#usedBytes = 0;
    }
    const at = this.#usedBytes;
    this.#usedBytes += BLOCK_SAMPLES;
    const [bytes, words] = [this.#bytes, this.#words];
    return { pcm: new Int16Array(BLOCK_SAMPLES), law: undefined, bytes, words, at };
  }
}
