/** Cuts sound of any length into 20 ms frames; pure */
import { FRAME_SAMPLES } from './audio-stream.ts';

export class FrameSplitter {
  #rest: Int16Array = new Int16Array(0);
  readonly #single: Int16Array[] = [];

  /** Takes samples; returns the frames that they complete, in a list that is used again, and keeps what is over. */
  split(pcm: Int16Array): readonly Int16Array[] {
    if (this.#rest.length === 0 && pcm.length === FRAME_SAMPLES) {
      this.#single[0] = pcm;
      return this.#single;
    }
    const all = new Int16Array(this.#rest.length + pcm.length);
    all.set(this.#rest);
    all.set(pcm, this.#rest.length);
    const frames = Math.floor(all.length / FRAME_SAMPLES);
    this.#rest = all.slice(frames * FRAME_SAMPLES);
    return Array.from({ length: frames }, (_, index) =>
      all.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES),
    );
  }
}
