/** Changes the sample rate of speech without adding what was not in it; pure */

/** Zero crossings of the low-pass on each side of its middle: steepness against work. */
const CROSSINGS = 48;

/** Shape of the window: about 100 dB below, more than 16 bits can show. */
const KAISER_BETA = 10;

/** Middle of the low-pass's slope, as a share of the lower of both Nyquist rates: it is down at 1. */
const CUTOFF = 0.935;

/** Rates whose ratio needs more phases than this are not sound cards' or codecs'. */
const PHASES_MAX = 4000;

interface Filter {
  /** One row of taps a phase, newest sample last. */
  readonly phases: readonly Float32Array[];
  readonly taps: number;
  /** Output sample n stands at input position n * step / phases.length. */
  readonly step: number;
}

const filters = new Map<string, Filter>();

/**
 * A polyphase low-pass for one stream: chunks of any length in, what they are worth out, nothing lost between them.
 *
 * @see Crochiere and Rabiner, Multirate Digital Signal Processing, 1983, section 3.3
 */
export class Resampler {
  readonly #filter: Filter;
  /** Samples that later output still needs. */
  #history: Float32Array;
  /** Where the next output stands, in phases after the beginning of `#history`. */
  #position = 0;
  /** So many samples of the stream are still to come out after its last one came in. */
  readonly #lag: number;

  /** @throws {RangeError} for rates that are not whole numbers of Hz, or without a usable common divisor. */
  constructor(rates: { readonly fromRateHz: number; readonly toRateHz: number }) {
    this.#filter = filterFor(rates.fromRateHz, rates.toRateHz);
    // Half a filter of silence ahead makes the first output sample stand at the first input sample.
    this.#lag = this.#filter.taps / 2;
    this.#history = new Float32Array(this.#lag - 1);
  }

  /** Takes a chunk; returns the output that it makes certain: the last 6 ms follow with the next chunk. */
  push(pcm: Int16Array): Int16Array {
    return this.#convert(Float32Array.from(pcm));
  }

  /** Returns what is left. The stream is over by that. */
  flush(): Int16Array {
    return this.#convert(new Float32Array(this.#lag));
  }

  #convert(input: Float32Array): Int16Array {
    const { phases, taps, step } = this.#filter;
    const samples = new Float32Array(this.#history.length + input.length);
    samples.set(this.#history);
    samples.set(input, this.#history.length);
    const ready = (samples.length - taps + 1) * phases.length - this.#position;
    const output = new Int16Array(Math.max(0, Math.ceil(ready / step)));
    for (let index = 0; index < output.length; index += 1) {
      const start = Math.floor(this.#position / phases.length);
      const row = phases[this.#position % phases.length];
      if (row !== undefined) output[index] = toSample(dot(row, samples, start));
      this.#position += step;
    }
    const used = Math.min(samples.length, Math.floor(this.#position / phases.length));
    this.#history = samples.slice(used);
    this.#position -= used * phases.length;
    return output;
  }
}

/** Converts a whole recording at once. */
export function resample(
  pcm: Int16Array,
  rates: { readonly fromRateHz: number; readonly toRateHz: number },
): Int16Array {
  if (rates.fromRateHz === rates.toRateHz) return pcm;
  const resampler = new Resampler(rates);
  const [body, tail] = [resampler.push(pcm), resampler.flush()];
  const whole = new Int16Array(body.length + tail.length);
  whole.set(body);
  whole.set(tail, body.length);
  return whole;
}

function filterFor(fromRateHz: number, toRateHz: number): Filter {
  const name = `${fromRateHz}:${toRateHz}`;
  const known = filters.get(name);
  if (known !== undefined) return known;
  const made = makeFilter(fromRateHz, toRateHz);
  filters.set(name, made);
  return made;
}

function makeFilter(fromRateHz: number, toRateHz: number): Filter {
  const divisor = greatestCommonDivisor(fromRateHz, toRateHz);
  const count = toRateHz / divisor;
  const isUsual = Number.isInteger(divisor) && Math.min(fromRateHz, toRateHz) > 0;
  if (!isUsual || count > PHASES_MAX) {
    throw new RangeError(`Cannot resample from "${fromRateHz}" to "${toRateHz}" Hz: odd rates`);
  }
  const shrink = Math.max(1, fromRateHz / toRateHz);
  const half = Math.ceil(CROSSINGS * shrink);
  const phases = Array.from({ length: count }, (_, phase) =>
    normalise(
      Float32Array.from({ length: half * 2 }, (_unused, tap) =>
        lowPass((tap - (half - 1) - phase / count) / shrink, half / shrink),
      ),
    ),
  );
  return { phases, taps: half * 2, step: fromRateHz / divisor };
}

/** The ideal low-pass at `x` samples from its middle, within a window of `half` samples on each side. */
function lowPass(x: number, half: number): number {
  const angle = Math.PI * x * CUTOFF;
  const sinc = x === 0 ? 1 : Math.sin(angle) / angle;
  const edge = 1 - (x / half) ** 2;
  return edge <= 0 ? 0 : sinc * bessel(KAISER_BETA * Math.sqrt(edge));
}

/** Makes a phase pass a steady level unchanged. */
function normalise(row: Float32Array): Float32Array {
  const sum = row.reduce((total, tap) => total + tap, 0);
  return row.map((tap) => tap / sum);
}

/** Modified Bessel function of the first kind, order zero, by its series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let n = 1; term > sum * 1e-12; n += 1) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}

function dot(row: Float32Array, samples: Float32Array, start: number): number {
  let sum = 0;
  for (let tap = 0; tap < row.length; tap += 1) {
    sum += (row[tap] ?? 0) * (samples[start + tap] ?? 0);
  }
  return sum;
}

function toSample(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}
