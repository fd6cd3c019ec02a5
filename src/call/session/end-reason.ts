/** End reason and failure of a call, from SIP status, release cause or conversation end; pure */
import type { ConversationEnd } from '../../conversation/conversation-port.ts';
import type { EndReason } from '../../domain/call/call.ts';
import type { Failure } from '../../domain/call/call-life.ts';
import { CarrierError, type ReleaseCause } from '../../telephony/carrier.ts';

/** Why an outgoing call that was never answered came to nothing, from its final SIP status. */
export function endReasonOfUnanswered(sipStatus: number): EndReason {
  switch (sipStatus) {
    case 486:
    case 600:
    case 603:
      return 'busy';
    case 408:
    case 480:
    // 487 answers our own CANCEL, which we send only when the ringing has gone on too long.
    // RFC 3261, 21.4.25.
    case 487:
      return 'no_answer';
    default:
      return 'error';
  }
}

/** End reason that a leg's release implies when the conversation has not set one. */
export function endReasonOfRelease(cause: ReleaseCause): EndReason {
  switch (cause.kind) {
    case 'far-end':
      return 'user_hangup';
    case 'near-end':
      return 'agent_hangup';
    case 'transferred':
      return 'transferred';
    case 'unanswered':
      return endReasonOfUnanswered(cause.sipStatus);
    case 'broken':
      return 'error';
    default:
      return cause satisfies never;
  }
}

/** End reason that the end of a conversation implies. */
export function endReasonOfConversation(end: ConversationEnd): EndReason {
  switch (end.kind) {
    case 'agent-hangup':
      return 'agent_hangup';
    case 'timeout':
      return 'timeout';
    case 'transferred':
      return 'transferred';
    case 'failed':
      return 'error';
    default:
      return end satisfies never;
  }
}

/** Timeline text for the end of a bridge between two parties. */
export function bridgeEndOf(cause: ReleaseCause): string {
  switch (cause.kind) {
    case 'far-end':
      return 'the first party has hung up';
    case 'transferred':
      return 'the other party has hung up';
    case 'near-end':
      return 'it was hung up on both';
    case 'unanswered':
      return `the call ended with SIP ${cause.sipStatus}`;
    case 'broken':
      return cause.reason;
    default:
      return cause satisfies never;
  }
}

const NO_ANSWER = 'No answer';
const BUSY = 'The called number is busy, or refused the call';
const CREDENTIALS = 'The carrier does not let us call: check the user name, password and numbers';
const UNKNOWN = 'The carrier does not know the called number';
const CODECS = 'The far end accepts none of the codecs';
const REDIRECTED = 'The carrier redirects the call to another address, which is not followed';
const UNWANTED = 'The called party wants no calls from this number';
const SCREENED = 'A service of the carrier took the call for an unwanted one';

/** Reasons by the final status of our INVITE. RFC 3261, 21; 607: RFC 8197; 608: RFC 8688. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: CREDENTIALS,
  403: CREDENTIALS,
  407: CREDENTIALS,
  404: UNKNOWN,
  410: UNKNOWN,
  484: UNKNOWN,
  604: UNKNOWN,
  408: NO_ANSWER,
  480: NO_ANSWER,
  487: NO_ANSWER,
  486: BUSY,
  600: BUSY,
  603: BUSY,
  488: CODECS,
  606: CODECS,
  607: UNWANTED,
  608: SCREENED,
};

/** Reasons by the status that our own SIP server makes where the far end sends no response. */
const UNREACHED: Readonly<Record<number, string>> = {
  408: 'The carrier gave no response',
  503: 'The carrier is out of reach',
};

/** Reason for a status without one of its own, by its class. */
function refusalByClass(sipStatus: number): string {
  if (sipStatus >= 300 && sipStatus < 400) return REDIRECTED;
  return sipStatus >= 500
    ? 'The carrier could not put the call through'
    : 'The carrier refused the call';
}

/** @param error what the carrier threw instead of an answered call. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof CarrierError)) return failureBecause('The server failed.');
  const { refusedWith: sipStatus, isUnreached, message } = error;
  if (sipStatus === null) return failureBecause(`${message}.`);
  const sentences = isUnreached ? UNREACHED : REFUSALS;
  const why = sentences[sipStatus] ?? refusalByClass(sipStatus);
  return { reason: `${why} (SIP ${sipStatus}).`, sipStatus };
}

/** An incoming call that was cancelled, or whose caller never confirmed our answer. */
export const CALLER_GAVE_UP: Failure = failureBecause('The caller gave up.');

/** A failure in which SIP has no part. */
export function failureBecause(reason: string): Failure {
  return { reason, sipStatus: null };
}
