/** A sound that is played over and over where there is nothing else to hear, such as a telephone's ringing; pure */
import { FRAME_SAMPLES } from '../audio-stream.ts';

export class BackgroundLoop {
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #pcm: Int16Array | undefined;
  #at = 0;

  /** Plays this from its beginning, or nothing. Less than a frame of sound is nothing. */
  set(pcm: Int16Array | undefined): void {
    this.#pcm = pcm !== undefined && pcm.length >= FRAME_SAMPLES ? pcm : undefined;
    this.#at = 0;
  }

  /** The next 20 ms, in memory that is used again for the ones after; undefined where nothing is played. */
  next(): Int16Array | undefined {
    const pcm = this.#pcm;
    if (pcm === undefined) return undefined;
    for (let index = 0; index < FRAME_SAMPLES; index += 1) {
      this.#frame[index] = pcm[(this.#at + index) % pcm.length] ?? 0;
    }
    this.#at = (this.#at + FRAME_SAMPLES) % pcm.length;
    return this.#frame;
  }
}
