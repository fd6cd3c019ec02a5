/** The way of an echo: a delay, a smearing as telephone hybrids and rooms have it, and a loss; pure. */
import { RATE_HZ, randomFrom } from './sound-shapes.ts';

export interface EchoPathOptions {
  readonly delayMs: number;
  /** Negative: how far the echo is below what was sent. */
  readonly gainDb: number;
  /** How long the echo of a click is; 0 for a click. */
  readonly smearMs: number;
}

/** Takes what is sent, in pieces of any length, and gives back its echo. One instance a line. */
export class EchoPath {
  readonly #taps: Float64Array;
  readonly #delaySamples: number;
  /** What was sent, the newest last: as long as delay and smearing need. */
  #sent: Float64Array;

  constructor({ delayMs, gainDb, smearMs }: EchoPathOptions) {
    this.#delaySamples = (delayMs * RATE_HZ) / 1000;
    this.#taps = tapsOf(Math.max(1, (smearMs * RATE_HZ) / 1000), 10 ** (gainDb / 20));
    this.#sent = new Float64Array(this.#delaySamples + this.#taps.length);
  }

  /** @returns the echo that arrives while these samples are sent. */
  pass(pcm: Int16Array): Int16Array {
    const before = this.#sent;
    const all = new Float64Array(before.length + pcm.length);
    all.set(before);
    all.set(pcm, before.length);
    this.#sent = all.subarray(pcm.length);
    return Int16Array.from(pcm, (_, index) => {
      const newest = before.length + index - this.#delaySamples;
      let sum = 0;
      for (let tap = 0; tap < this.#taps.length; tap += 1) {
        sum += (this.#taps[tap] ?? 0) * (all[newest - tap] ?? 0);
      }
      return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
    });
  }
}

/** Random taps that die away, behind one strong one; together of this gain. */
function tapsOf(count: number, gain: number): Float64Array {
  const random = randomFrom(7);
  const taps = Float64Array.from(
    { length: count },
    (_, index) => (2 * random() - 1) * Math.exp((-5 * index) / count),
  );
  taps[Math.min(2, count - 1)] = 1.5;
  const power = taps.reduce((sum, tap) => sum + tap * tap, 0);
  return taps.map((tap) => (tap * gain) / Math.sqrt(power));
}
