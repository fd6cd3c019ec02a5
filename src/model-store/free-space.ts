/** Looks whether there is room on the disk before anything is downloaded. */
import { statfs } from 'node:fs/promises';
import { ModelsError } from './models-error.ts';
import { bytesText } from './wording.ts';

/** What is left for everything else on the disk. */
const RESERVE_BYTES = 64 * 1024 * 1024;

/**
 * @param needed in bytes, without what is on the disk already.
 * @throws {ModelsError} `disk-full` saying how much is missing.
 */
export async function refuseWithoutRoom(folder: string, needed: number): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder);
  // A small disk has a small reserve.
  const reserve = Math.min(RESERVE_BYTES, (blocks * bsize) / 20);
  const missing = needed + reserve - bavail * bsize;
  if (needed === 0 || missing <= 0) return;
  throw new ModelsError(
    'disk-full',
    `Cannot download to "${folder}": ${bytesText(needed)} are needed and ${bytesText(bavail * bsize)} are free; make room for ${bytesText(missing)} more, or set MODELS_DIR to a larger disk`,
  );
}
