/** Errors of the models command, in words for the operator, and the check for free space on the disk. */
import { statfs } from 'node:fs/promises';
import { bytesText } from './progress.ts';

/** The cause of a failure; decides the command's exit status. */
export type ModelsFailure =
  /** The manifest, the lock file or the options are wrong. */
  | 'usage'
  /** No connection, or no answer in time: worth another try later. */
  | 'network'
  /** The server refused. */
  | 'refused'
  /** The bytes are not the promised ones. */
  | 'wrong-content'
  /** No checksum is known. */
  | 'unverified'
  | 'disk-full'
  | 'disk'
  /** Another run works on the same folder. */
  | 'busy'
  | 'cancelled';

/** Cannot do something with a model's file; the message names the file, the cause and the remedy. */
export class ModelsError extends Error {
  override readonly name = 'ModelsError';
  readonly failure: ModelsFailure;

  constructor(failure: ModelsFailure, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

/** The error of a run that the operator stopped. */
export function cancelled(cause: unknown): ModelsError {
  return new ModelsError('cancelled', 'Stopped', { cause });
}

/** Turns an error of the file system into a `ModelsError`. @param file that was to be written or read. */
export function diskError(error: unknown, file: string): ModelsError {
  if (error instanceof ModelsError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : '';
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const why = isFull
    ? 'the disk is full; make room and run the same command again, it goes on where it stopped'
    : error instanceof Error
      ? error.message
      : String(error);
  return new ModelsError(isFull ? 'disk-full' : 'disk', `Cannot write "${file}": ${why}`, {
    cause: error,
  });
}

/** Space that stays free, in bytes; a twentieth of a small disk. */
const RESERVE_BYTES = 64 * 1024 * 1024;

/**
 * Checks the free space before a download.
 *
 * @param neededBytes without what is on the disk already.
 * @throws {ModelsError} `disk-full` saying how much is missing.
 */
export async function refuseWithoutRoom(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder);
  const free = bavail * bsize;
  const missing = neededBytes + Math.min(RESERVE_BYTES, (blocks * bsize) / 20) - free;
  if (neededBytes === 0 || missing <= 0) return;
  throw new ModelsError(
    'disk-full',
    `Cannot download to "${folder}": ${bytesText(neededBytes)} are needed and ${bytesText(free)} are free; make room for ${bytesText(missing)} more, or set MODELS_DIR to a larger disk`,
  );
}
