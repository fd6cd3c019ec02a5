/** Brings an engine's audio to the telephone line's rate, as it comes; pure */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';

/** Taps of each phase at 22,050 Hz: 70 dB down from 4 kHz on, flat to 3.4 kHz. */
const TAPS_AT_22050 = 160;

/** Middle of the filter's slope: frequencies above 4 kHz must not alias. */
const CUTOFF_HZ = 3700;

/** Shape of the Kaiser window: 0.1102 * (70 dB - 8.7). */
const KAISER_BETA = 6.76;

/** One set of taps for each position of an output sample between two input samples. */
interface FilterBank {
  readonly phases: number;
  /** Input positions, in units of 1 / `phases` of a sample, from one output sample to the next. */
  readonly step: number;
  readonly taps: number;
  /** [phases * taps], the taps of phase 0 first. */
  readonly weights: Float32Array;
}

const banks = new Map<number, FilterBank>();

/**
 * Resamples mono PCM to 8 kHz with a windowed sinc. The filter's delay is taken out: output sample n
 * lies at n / 8000 s of the input. Keeps state: use one instance an utterance.
 *
 * @see Smith, "Digital Audio Resampling Home Page", section "Theory of Ideal Bandlimited Interpolation"
 */
export class Resampler {
  readonly #bank: FilterBank;
  #pending: Float32Array;
  /** Place of the next output sample in `#pending`, in units of 1 / phases of a sample. */
  #position = 0;

  /** @throws {RangeError} when the rate is not a whole number from 8,000 to 96,000. */
  constructor(fromHz: number) {
    if (!Number.isInteger(fromHz) || fromHz < LINE_RATE_HZ || fromHz > 96_000) {
      throw new RangeError(`Cannot resample from "${fromHz}" Hz: expected 8000 to 96000`);
    }
    this.#bank = filterBank(fromHz);
    // Silence before the first sample puts that sample in the middle of the taps.
    this.#pending = new Float32Array(this.#bank.taps / 2 - 1);
  }

  /** Takes any number of samples; returns the finished output samples, as floats of the same scale. */
  push(samples: Int16Array | Float32Array): Float32Array {
    const joined = new Float32Array(this.#pending.length + samples.length);
    joined.set(this.#pending);
    joined.set(samples, this.#pending.length);
    this.#pending = joined;
    return this.#drain();
  }

  /** Returns the rest, with silence as the missing input. */
  flush(): Float32Array {
    return this.push(new Int16Array(this.#bank.taps / 2));
  }

  #drain(): Float32Array {
    const { phases, step, taps, weights } = this.#bank;
    const room = (this.#pending.length - taps + 1) * phases - this.#position;
    const output = new Float32Array(Math.max(0, Math.ceil(room / step)));
    for (let n = 0; n < output.length; n++) {
      const start = Math.floor(this.#position / phases);
      const phase = this.#position % phases;
      output[n] = dotProduct(this.#pending, start, weights, phase * taps, taps);
      this.#position += step;
    }
    const used = Math.min(this.#pending.length, Math.floor(this.#position / phases));
    this.#pending = this.#pending.slice(used);
    this.#position -= used * phases;
    return output;
  }
}

function dotProduct(
  samples: Float32Array,
  start: number,
  weights: Float32Array,
  offset: number,
  taps: number,
): number {
  let sum = 0;
  for (let k = 0; k < taps; k++) {
    sum += (samples[start + k] ?? 0) * (weights[offset + k] ?? 0);
  }
  return sum;
}

function filterBank(fromHz: number): FilterBank {
  const known = banks.get(fromHz);
  if (known !== undefined) {
    return known;
  }
  const shared = greatestCommonDivisor(fromHz, LINE_RATE_HZ);
  const phases = LINE_RATE_HZ / shared;
  const taps = 2 * Math.ceil((TAPS_AT_22050 * fromHz) / 22_050 / 2);
  const weights = new Float32Array(phases * taps);
  for (let phase = 0; phase < phases; phase++) {
    weights.set(phaseTaps(phase / phases, taps, CUTOFF_HZ / fromHz), phase * taps);
  }
  const bank = { phases, step: fromHz / shared, taps, weights };
  banks.set(fromHz, bank);
  return bank;
}

/** Taps for an output sample `fraction` after the middle one, scaled so that they add up to 1. */
function phaseTaps(fraction: number, taps: number, cutoff: number): Float64Array {
  const half = taps / 2;
  const values = new Float64Array(taps).map((_, k) => {
    const distance = k - (half - 1) - fraction;
    return sinc(2 * cutoff * distance) * kaiser(distance / half);
  });
  const sum = values.reduce((total, value) => total + value, 0);
  return values.map((value) => value / sum);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : besselI0(KAISER_BETA * Math.sqrt(1 - x * x));
}

/** Modified Bessel function of the first kind, order 0, by its power series. */
function besselI0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Taps on each side of a sample that is put in between. */
const TAPS = 11;

const TAP_WEIGHTS = halfBandWeights();

/** Half-band interpolation of a stream, piece by piece. Keeps state: use one instance a stream. */
export class Upsampler {
  /** The newest `2 * TAPS` samples of earlier pieces, in -1..1. */
  readonly #past = new Float32Array(2 * TAPS);

  /**
   * Doubles the rate of the next piece, 11 input samples (1.4 ms) late.
   *
   * @param pcm 8 kHz, mono, signed 16-bit, any length.
   * @returns 16 kHz, mono, -1..1, twice as many samples.
   */
  push(pcm: Int16Array): Float32Array {
    const input = new Float32Array(2 * TAPS + pcm.length);
    input.set(this.#past);
    for (let index = 0; index < pcm.length; index += 1) {
      input[2 * TAPS + index] = (pcm[index] as number) / 32768;
    }

    const output = new Float32Array(2 * pcm.length);
    for (let index = 0; index < pcm.length; index += 1) {
      output[2 * index] = input[index + TAPS] as number;
      output[2 * index + 1] = between(input, index + TAPS);
    }
    this.#past.set(input.subarray(pcm.length));
    return output;
  }
}

/** The value half-way between sample `left` and the one after it. */
function between(input: Float32Array, left: number): number {
  let sum = 0;
  for (let tap = 0; tap < TAPS; tap += 1) {
    const pair = (input[left - tap] as number) + (input[left + 1 + tap] as number);
    sum += (TAP_WEIGHTS[tap] as number) * pair;
  }
  return sum;
}

/** A sinc under a Hann window, scaled so that a constant signal is unchanged. */
function halfBandWeights(): Float64Array {
  const weights = Float64Array.from({ length: TAPS }, (_, tap) => {
    const angle = Math.PI * (tap + 0.5);
    const window = 0.5 + 0.5 * Math.cos(angle / (TAPS + 0.5));
    return (Math.sin(angle) / angle) * window;
  });
  const total = 2 * weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
