/** Sliding window: the newest samples of a stream in one piece; pure */
import { FRAME_SAMPLES } from '../audio-stream.ts';

/** Frames that are added before the window moves to the front of its memory: at 500 calls moving it each time fills the caches. */
const FRAMES_PER_MOVE = 8;

export class SlidingWindow {
  /** The window is from `start` to `start + length`. Whole numbers, which 32 bits hold exactly. */
  readonly samples: Float32Array;
  readonly length: number;
  #start = 0;

  constructor(length: number) {
    this.length = length;
    this.samples = new Float32Array(length + FRAMES_PER_MOVE * FRAME_SAMPLES);
  }

  /** Place of the oldest sample in `samples`; changes with each `push`. */
  get start(): number {
    return this.#start;
  }

  /** Adds sound of any length; as many of the oldest samples leave the window. */
  push(pcm: Int16Array): void {
    const { samples, length } = this;
    const newest = pcm.length > length ? pcm.subarray(-length) : pcm;
    if (this.#start + newest.length > samples.length - length) {
      samples.copyWithin(0, this.#start + newest.length, this.#start + length);
      this.#start = 0;
    } else this.#start += newest.length;
    const end = this.#start + length - newest.length;
    // Sample by sample: a conversion of 160 samples costs less than the call of a built-in function.
    for (let index = 0; index < newest.length; index += 1)
      samples[end + index] = newest[index] ?? 0;
  }

  /** Fills the window with silence. */
  clear(): void {
    this.samples.fill(0);
  }

  /** A copy of the window. */
  toArray(): Float32Array {
    return this.samples.slice(this.#start, this.#start + this.length);
  }
}
