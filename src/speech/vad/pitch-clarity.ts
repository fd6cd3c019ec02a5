/** Pitch clarity: how exactly a sound repeats. A single talker has one pitch, the talk of several people has none; pure */

/** Sample rate of `pitchClarity`: half of the line's, since pitch is far below. */
const PITCH_RATE_HZ = 4000;

/** Shortest and longest period of a voice, of 400 and 57 Hz, in samples. */
const PERIOD_MIN = PITCH_RATE_HZ / 400;
const PERIOD_MAX = Math.floor(PITCH_RATE_HZ / 57);

/**
 * Halves the sample rate: two samples become their mean.
 *
 * @param pcm 8 kHz, an even number of samples.
 * @param into takes half as many, from `at` on.
 */
export function halveRate(pcm: Int16Array, into: Int16Array, at: number): void {
  for (let index = 0; index < pcm.length; index += 2) {
    into[at + index / 2] = ((pcm[index] as number) + (pcm[index + 1] as number)) / 2;
  }
}

/**
 * The highest normalised autocorrelation over all periods of a voice (P. Boersma, "Accurate short-term analysis of the
 * fundamental frequency and the harmonics-to-noise ratio of a sampled sound", 1993).
 *
 * @param samples 4 kHz, 64 ms of them: several periods of a deep voice.
 * @returns 0 for a sound without a pitch, up to 1 for one that repeats exactly.
 */
export function pitchClarity(samples: Int16Array): number {
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  const centred = Float64Array.from(samples, (sample) => sample - mean);
  // Energy of the samples before each one.
  const energies = new Float64Array(centred.length + 1);
  for (const [at, sample] of centred.entries()) {
    energies[at + 1] = (energies[at] as number) + sample * sample;
  }
  const whole = energies[centred.length] as number;
  let clearest = 0;
  for (let period = PERIOD_MIN; period <= PERIOD_MAX; period += 1) {
    const earlier = energies[centred.length - period] as number;
    const later = whole - (energies[period] as number);
    const energy = Math.sqrt(earlier * later);
    if (energy > 0) clearest = Math.max(clearest, productAt(centred, period) / energy);
  }
  return clearest;
}

/** Sum of the products of samples and those a period later. */
function productAt(samples: Float64Array, period: number): number {
  let sum = 0;
  for (let at = period; at < samples.length; at += 1) {
    sum += (samples[at - period] as number) * (samples[at] as number);
  }
  return sum;
}
