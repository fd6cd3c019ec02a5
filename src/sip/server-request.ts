/** A request from a peer that waits for the application's answer. */
import type { SipMessage } from './message/message.ts';
import type { ResponseParts } from './outgoing.ts';
import type { Flow } from './transport/flow.ts';

export interface ServerRequest {
  readonly request: SipMessage;
  readonly flow: Flow;

  /**
   * Answers. A second final response is ignored.
   *
   * @returns the response as sent.
   * @throws {TypeError} when the parts hold what no message may, such as CR or LF in a header.
   */
  respond(status: number, parts?: ResponseParts): SipMessage;
}

/** An INVITE inside a dialog. A 2xx is repeated until its ACK comes. */
export interface ServerReinvite extends ServerRequest {
  /** The ACK of our 2xx; null when there was none: another status, BYE first, or silence for 64*T1. */
  readonly acknowledged: Promise<SipMessage | null>;
}
