/** The error of a message that could not be read, with as much of it as could; pure */
import type { SipMessage } from './message.ts';
import { SipError } from './sip-error.ts';

/**
 * Why a whole message was refused.
 *
 * `status` is 0 where nothing may be answered: a response, an ACK, a message without a usable top Via.
 */
export class BadMessageError extends SipError {
  override readonly name = 'BadMessageError';

  /**
   * The part that was read: always the lines that could be, so that a request can be answered
   * statelessly with `makeResponse`; undefined where not even the start line made sense.
   */
  readonly sipMessage: SipMessage | undefined;

  constructor(status: number, message: string, sipMessage?: SipMessage) {
    super(status, message);
    this.sipMessage = sipMessage;
  }
}
