/** Doubles the line's 8 kHz to the 16 kHz that speech models hear; pure */

/** Taps on each side of a sample that is put in between. */
const TAPS = 11;

const TAP_WEIGHTS = halfBandWeights();

/** Half-band interpolation that goes on where the last piece ended. Keeps state: use one instance a stream. */
export class Upsampler {
  /** The newest `2 * TAPS` samples of what came before, in -1..1. */
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

/** A sinc under a Hann window, scaled so that a constant stays what it is. */
function halfBandWeights(): Float64Array {
  const weights = Float64Array.from({ length: TAPS }, (_, tap) => {
    const angle = Math.PI * (tap + 0.5);
    const window = 0.5 + 0.5 * Math.cos(angle / (TAPS + 0.5));
    return (Math.sin(angle) / angle) * window;
  });
  const total = 2 * weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
