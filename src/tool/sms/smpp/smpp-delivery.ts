/** What a delivery of SMPP says: a report on a message, or an incoming message; pure */
import { isPhoneNumber } from '../../../domain/dialing/phone-number.ts';
import type { SmsCallback } from '../../../domain/sms/sms-callback.ts';
import type { SmsState } from '../../../domain/sms/sms-message.ts';
import type { Delivery } from './smpp-pdu.ts';
import { decodeText } from './smpp-text.ts';

type Reported = Exclude<SmsState, 'accepted' | 'unknown'>;

/** Words of `stat` in the text of a report. @see SMPP 3.4, appendix B */
const STATES: Readonly<Record<string, Reported>> = {
  ENROUTE: 'sent',
  ACCEPTD: 'sent',
  DELIVRD: 'delivered',
  EXPIRED: 'failed',
  DELETED: 'failed',
  UNDELIV: 'failed',
  REJECTD: 'failed',
};

/** Values of `message_state`. @see SMPP 3.4, 5.2.28 */
const STATES_BY_NUMBER: readonly (keyof typeof STATES | undefined)[] = [
  ...[undefined, 'ENROUTE', 'DELIVRD', 'EXPIRED', 'DELETED', 'UNDELIV', 'ACCEPTD', undefined],
  'REJECTD',
];

/** Undefined where it is neither a report that changes something nor a message from a number. */
export function readSmppDelivery(delivery: Delivery): SmsCallback | undefined {
  const text = decodeText(delivery);
  if (delivery.isReport) return reportOf(delivery, text);
  const from = delivery.from.startsWith('+') ? delivery.from : `+${delivery.from}`;
  return isPhoneNumber(from) ? { kind: 'incoming', from, text } : undefined;
}

function reportOf({ messageId, state }: Delivery, text: string): SmsCallback | undefined {
  const providerId = messageId ?? /\bid:(\S+)/i.exec(text)?.[1];
  const byText = /\bstat:([A-Z]{1,10})/i.exec(text)?.[1]?.toUpperCase();
  const word = (state === undefined ? undefined : STATES_BY_NUMBER[state]) ?? byText ?? '';
  const status = Object.hasOwn(STATES, word) ? STATES[word] : undefined;
  if (status === undefined || providerId === undefined) return undefined;
  const code = /\berr:(\w{1,8})/i.exec(text)?.[1];
  const why = code === undefined || /^0+$/.test(code) ? '' : ` (${code})`;
  const reason = status === 'failed' ? `the network reported "${word}"${why}` : null;
  return { kind: 'report', providerId, news: { status, reason } };
}
