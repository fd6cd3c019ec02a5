/** The voiced span of an utterance, by level alone; pure */
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = (LINE_RATE_HZ * FRAME_MS) / 1000;

/** A frame this much weaker than the loudest is a pause: 20 dB in power. */
const PAUSE_POWER_RATIO = 0.01;

/** Energy-based start and end of speech; takes 8 kHz, mono, signed 16-bit audio. */
export class VoicedSpan {
  readonly #powers: number[] = [];
  #sum = 0;
  #samples = 0;

  push(pcm: Int16Array): void {
    for (const sample of pcm) {
      this.#sum += sample * sample;
      this.#samples += 1;
      if (this.#samples < FRAME_SAMPLES) continue;
      this.#powers.push(this.#sum);
      [this.#sum, this.#samples] = [0, 0];
    }
  }

  /** From the first loud frame to the end of the last, in milliseconds; all of it where everything is silent. */
  get span(): { readonly startMs: number; readonly endMs: number } {
    const loudest = this.#powers.reduce((most, power) => Math.max(most, power), 0);
    const isLoud = (power: number) => power > loudest * PAUSE_POWER_RATIO;
    const first = Math.max(0, this.#powers.findIndex(isLoud));
    const last = this.#powers.findLastIndex(isLoud);
    const end = last < 0 ? this.#powers.length : last + 1;
    return { startMs: first * FRAME_MS, endMs: end * FRAME_MS };
  }
}
