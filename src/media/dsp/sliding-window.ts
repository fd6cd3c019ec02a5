/** Sliding window: the newest samples of a stream in one piece; pure */
import { FRAME_SAMPLES } from '../audio-stream.ts';

/** Frames that are added before the window moves to the front of its memory: with each frame that was a tenth of a packet's cost. */
const FRAMES_PER_MOVE = 16;

/** The newest samples, in one piece of memory. */
export class SlidingWindow {
  /** The window is from `start` to `start + length`. Of the type of the sound, so that adding it converts nothing. */
  readonly samples: Int16Array;
  readonly length: number;
  #start = 0;

  constructor(length: number) {
    this.length = length;
    this.samples = new Int16Array(length + FRAMES_PER_MOVE * FRAME_SAMPLES);
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
    samples.set(newest, this.#start + length - newest.length);
  }

  /** Fills the window with silence. */
  clear(): void {
    this.samples.fill(0);
  }

  /** A copy of the window. */
  toArray(): Float32Array {
    return Float32Array.from(this.samples.subarray(this.#start, this.#start + this.length));
  }
}
