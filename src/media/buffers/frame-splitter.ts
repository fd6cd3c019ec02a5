/** Cuts sound of any length into 20 ms frames; pure */
import { FRAME_SAMPLES } from '../audio-stream.ts';

const NOTHING = new Int16Array(0);

export class FrameSplitter {
  #rest = NOTHING;

  /** Whether nothing is over: then 160 samples are a frame as they are. */
  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  /** Takes samples; returns the frames that they complete, and keeps what is over. */
  split(pcm: Int16Array): readonly Int16Array[] {
    const all = new Int16Array(this.#rest.length + pcm.length);
    all.set(this.#rest);
    all.set(pcm, this.#rest.length);
    const frames = Math.floor(all.length / FRAME_SAMPLES);
    const rest = all.slice(frames * FRAME_SAMPLES);
    this.#rest = rest.length === 0 ? NOTHING : rest;
    return Array.from({ length: frames }, (_, index) =>
      all.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES),
    );
  }
}
