/** The database did not do what was asked; customers see it as 503, calls in progress go on. */

export type StoreErrorReason =
  /** No room on the disk. */
  | 'full'
  /** The file or its file system can only be read. */
  | 'read-only'
  /** Another process held the write lock for too long. */
  | 'locked'
  /** The disk fails, or the file is damaged or gone. */
  | 'broken';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;

  constructor(message: string, reason: StoreErrorReason, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
