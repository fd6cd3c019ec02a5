/** How loud the microphone is; pure */
import { LEVEL_DBFS_MIN } from '../meter-board.ts';

/** @param samples in -1…1. @returns dBFS of their root mean square, -90…0. */
export function levelDbfs(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  if (sum === 0) return LEVEL_DBFS_MIN;
  return Math.min(0, Math.max(LEVEL_DBFS_MIN, 10 * Math.log10(sum / samples.length)));
}
