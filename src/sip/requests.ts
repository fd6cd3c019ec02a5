/** Options of requests and responses, as applications pass them to the user agent. */
import type { DigestClient } from './digest/digest.ts';
import type { SipMessage } from './message/message.ts';
import type { Flow } from './transport/flow.ts';

/** Values by header name; several values become several lines. */
export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

/** What may be added to any message. The user agent writes Content-Length, and refuses CR and LF in values. */
export interface MessageParts {
  readonly headers?: HeaderValues;
  readonly body?: string | Buffer;
  /** Media type of the body; `application/sdp` when not given. */
  readonly contentType?: string;
}

/** Reason phrase, headers and body of a response. */
export interface ResponseParts extends MessageParts {
  /** Reason phrase; the usual one of the status when not given. */
  readonly reason?: string;
}

/** A request outside of any dialog. */
export interface OutgoingRequest extends MessageParts {
  readonly method: string;
  readonly uri: string;
  /** Value of From; a missing tag is added. Default: the user agent's own address. */
  readonly from?: string;
  /** Value of To; default: the request's URI. */
  readonly to?: string;
  /** User part of our Contact; default: that of From. */
  readonly contactUser?: string;
  /** Leaves Contact out, as a REGISTER that only asks does. RFC 3261, 10.2.3. */
  readonly withoutContact?: boolean;
  readonly callId?: string;
  /** Sequence number of the first try; a retry with credentials counts on. */
  readonly sequence?: number;
  /** Route header values, such as `<sip:proxy.example.com;lr>`; the first one is the next hop. */
  readonly route?: readonly string[];
  /** Answers 401 and 407 challenges, and keeps the nonces for later requests to the same server. */
  readonly digest?: DigestClient;
  /** Each request as sent, retries with credentials and other targets included. */
  readonly onSent?: (request: SipMessage, flow: Flow) => void;
  readonly onProvisional?: (response: SipMessage) => void;
}

/** A new call to be placed. */
export interface OutgoingInvite
  extends Omit<OutgoingRequest, 'method' | 'onProvisional' | 'onSent'> {
  /**
   * `automatic`: the ACK is sent for each 2xx. `manual`: the application calls `dialog.ack()`, and the user agent
   * only retransmits it.
   */
  readonly acknowledge?: 'automatic' | 'manual';
  /** Cancels by itself after ringing that long; default 180,000. */
  readonly ringTimeoutMs?: number;
}

/** A re-INVITE to be sent. */
export interface OutgoingReinvite extends MessageParts {
  readonly acknowledge?: 'automatic' | 'manual';
  readonly onSent?: (request: SipMessage, flow: Flow) => void;
  readonly onProvisional?: (response: SipMessage) => void;
}

/** A request from a peer that waits for the application's answer. */
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

/** INVITE inside a dialog. A 2xx is retransmitted until its ACK. */
export interface ServerReinvite extends ServerRequest {
  /** The ACK of our 2xx; null when there was none: another status, BYE first, or silence for 64*T1. */
  readonly acknowledged: Promise<SipMessage | null>;
}
