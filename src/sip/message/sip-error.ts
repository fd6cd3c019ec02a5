/** The error that says why a piece of SIP cannot be used, with the status that answers it; pure */

/** What went wrong with a piece of SIP, as a status a peer would understand. */
export class SipError extends Error {
  override readonly name: string = 'SipError';

  /** The status to answer with; 0 where silence is the right answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Why the reading of something failed; undefined where it did not. Other errors pass through. */
export function faultOf(read: () => unknown): SipError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof SipError) return error;
    throw error;
  }
}
