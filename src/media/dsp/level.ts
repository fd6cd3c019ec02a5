/** How loud a stretch of sound is; pure */

/** What silence counts as: below the quietest step of 16 bits. */
export const SILENCE_DBFS = -100;

const FULL_SCALE = 32_768;

/** Level of signed 16-bit samples by their mean power, in dB below full scale: from -100 to 0. */
export function levelDbfs(pcm: Int16Array): number {
  return dbfsOf(meanPower(pcm));
}

/** Mean of the samples' squares, which levels of several stretches are made of: dB cannot be added. */
export function meanPower(pcm: Int16Array): number {
  const even = pcm.length & ~1;
  // Two sums, since a processor adds to one of them while it waits for the other.
  let power = 0;
  let other = 0;
  for (let index = 0; index < even; index += 2) {
    const sample = pcm[index] ?? 0;
    const next = pcm[index + 1] ?? 0;
    power += sample * sample;
    other += next * next;
  }
  const last = even < pcm.length ? (pcm[even] ?? 0) : 0;
  return pcm.length === 0 ? 0 : (power + other + last * last) / pcm.length;
}

/** Level of a mean power, in dB below full scale: from -100 to 0. */
export function dbfsOf(power: number): number {
  return Math.max(SILENCE_DBFS, 10 * Math.log10(power / FULL_SCALE ** 2));
}
