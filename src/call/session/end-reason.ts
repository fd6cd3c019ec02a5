/** Why a call ended, as customers see it, from what ended it; pure */
import type { ConversationEnd } from '../../conversation/conversation-port.ts';
import type { EndReason } from '../../domain/call/call.ts';
import type { ReleaseCause } from '../../telephony/carrier.ts';

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

/** What ended the talk of two who were joined, as the timeline says it. */
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
