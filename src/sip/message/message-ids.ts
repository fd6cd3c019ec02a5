/** What tells a message's dialog and transaction, read once and handed on; pure */
import type { SipMessage } from './message.ts';

export interface MessageIds {
  readonly callId: string;
  readonly fromTag: string;
  /** Empty outside of dialogs. */
  readonly toTag: string;
  readonly sequence: number;
}

/** @throws {SipError} 400 when one of the headers is missing or malformed. */
export function idsOf(message: SipMessage): MessageIds {
  return {
    callId: message.callId,
    fromTag: message.fromTag,
    toTag: message.toTag,
    sequence: message.cseq.seq,
  };
}
