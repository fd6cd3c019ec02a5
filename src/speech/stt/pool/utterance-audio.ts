/** The audio of one utterance, kept so that it can be sent again when a recogniser dies; pure */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';

/** As long as Whisper's window; what comes after is left out. */
export const UTTERANCE_MS_MAX = 30_000;

const SAMPLES_MAX = (LINE_RATE_HZ * UTTERANCE_MS_MAX) / 1000;

/** Grows at its end. 8 kHz, mono, signed 16-bit. */
export class UtteranceAudio {
  #samples = new Int16Array(LINE_RATE_HZ);
  #length = 0;

  /** Samples kept so far. */
  get length(): number {
    return this.#length;
  }

  append(pcm: Int16Array): void {
    const taken = pcm.subarray(0, SAMPLES_MAX - this.#length);
    this.#reserve(this.#length + taken.length);
    this.#samples.set(taken, this.#length);
    this.#length += taken.length;
  }

  /** Copies the samples from `start` up to `end`. */
  slice(start: number, end: number): Int16Array {
    return this.#samples.slice(start, Math.min(end, this.#length));
  }

  #reserve(length: number): void {
    if (length <= this.#samples.length) return;
    const grown = new Int16Array(Math.min(SAMPLES_MAX, Math.max(length, 2 * this.#samples.length)));
    grown.set(this.#samples.subarray(0, this.#length));
    this.#samples = grown;
  }
}
