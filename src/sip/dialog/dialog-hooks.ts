/** What a dialog tells of itself, and the words for its end. */
import type { SipMessage } from '../message/message.ts';
import type { ServerReinvite, ServerRequest } from '../server-request.ts';

/** Why a dialog is over. */
export interface DialogEnd {
  readonly cause: /** We sent BYE. */
    | 'local-bye'
    | 'remote-bye'
    /** An early dialog whose INVITE was refused, cancelled, or answered by another fork. */
    | 'unanswered'
    /** Our 2xx was never acknowledged; BYE has been sent. */
    | 'no-ack'
    /** The session was not refreshed in time; BYE has been sent. RFC 4028, 10. */
    | 'session-expired'
    /** The peer answered a request with 481 or not at all, or its WebSocket is closed. RFC 3261, 12.2.1.2. */
    | 'peer-gone'
    | 'stopped';
  /** The request or response that ended it, where there is one. */
  readonly message: SipMessage | null;
}

/** How the two directions of a dialog reach whoever holds it. */
export interface DialogHooks {
  /** Returns whether anyone takes it; otherwise the engine refuses. */
  onRequest(request: ServerRequest): boolean;
  onReinvite(request: ServerReinvite): boolean;
  onAck(ack: SipMessage): void;
  onDisconnected(): void;
  onEnded(end: DialogEnd): void;
  /** Nothing of it is left to be answered. */
  onOver(): void;
}
