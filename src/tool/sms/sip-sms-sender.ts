/** Sends messages by SIP MESSAGE over the trunk with the number that they are from. */
import type { SmsNews } from '../../domain/sms/sms-message.ts';
import type { SmsSender } from './send-sms.ts';

/** What became of a text: the carrier took it, did not answer, or refused it. */
type TextOutcome =
  | { readonly kind: 'taken' | 'unanswered' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Sends a text once. Never rejects. */
export type SendText = (message: {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}) => Promise<TextOutcome>;

/** Makes the sender of a number. A carrier that took a message says no more of it: reports are not a part of RFC 3428. */
export function sipSmsSender(from: string, sendText: SendText): SmsSender {
  return {
    send: async ({ text, to }) => newsOf(await sendText({ from, to, text: text ?? '' })),
  };
}

function newsOf(outcome: TextOutcome): SmsNews {
  switch (outcome.kind) {
    case 'taken':
      return { status: 'sent' };
    case 'refused':
      return { status: 'failed', reason: outcome.reason };
    case 'unanswered':
      return { status: 'unknown', reason: 'the carrier did not answer' };
    default:
      return outcome satisfies never;
  }
}
