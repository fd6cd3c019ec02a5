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
  let power = 0;
  for (let index = 0; index < pcm.length; index += 1) {
    const sample = pcm[index] ?? 0;
    power += sample * sample;
  }
  return pcm.length === 0 ? 0 : power / pcm.length;
}

/** Level of a mean power, in dB below full scale: from -100 to 0. */
export function dbfsOf(power: number): number {
  return Math.max(SILENCE_DBFS, 10 * Math.log10(power / FULL_SCALE ** 2));
}
