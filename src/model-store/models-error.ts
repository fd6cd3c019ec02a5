/** What can go wrong with downloaded models, in words for the operator; pure */

/** Why; decides the command's exit status. */
export type ModelsFailure =
  /** The manifest, the lock file or the words of the command make no sense. */
  | 'usage'
  /** Nothing there, or no answer in time: worth another try later. */
  | 'network'
  /** The server said no. */
  | 'refused'
  /** Bytes that are not what was promised. */
  | 'wrong-content'
  /** Nobody has said what the bytes should be. */
  | 'unverified'
  | 'disk-full'
  | 'disk'
  /** Another run is at work on the same folder. */
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

/** What a run that was stopped ends with. */
export function cancelled(cause: unknown): ModelsError {
  return new ModelsError('cancelled', 'Stopped', { cause });
}

const DISK_FULL = new Set(['ENOSPC', 'EDQUOT']);

/** An error of the file system in the operator's words. @param file that was to be written or read. */
export function diskError(error: unknown, file: string): ModelsError {
  if (error instanceof ModelsError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (DISK_FULL.has(code)) {
    return new ModelsError(
      'disk-full',
      `Cannot write "${file}": the disk is full; make room and run the same command again, it goes on where it stopped`,
      { cause: error },
    );
  }
  const why = error instanceof Error ? error.message : String(error);
  return new ModelsError('disk', `Cannot write "${file}": ${why}`, { cause: error });
}
