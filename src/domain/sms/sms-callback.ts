/** Callbacks of gateways: delivery reports and incoming messages, in each gateway's format; and their secret link; pure */
import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../lib/secrets.ts';
import { valueAt } from '../../lib/unknown-value.ts';
import { isPhoneNumber } from '../dialing/phone-number.ts';
import type { SmsPreset } from './http-template.ts';
import type { SmsNews, SmsState } from './sms-message.ts';

/** The path of callbacks, before the identifier of the gateway. */
export const CALLBACK_PATH = '/sms';

/**
 * The secret address that a gateway sends reports and incoming messages to.
 *
 * @param options.publicUrl The server's address as gateways reach it, without a slash at its end.
 * @param options.messageId Of a report's message; without it, the gateway's own identifier is looked up.
 */
export function callbackUrl(
  gatewayId: string,
  options: { readonly publicUrl: string; readonly secret: string; readonly messageId?: string },
): string {
  const { publicUrl, secret, messageId } = options;
  const url = `${publicUrl}${CALLBACK_PATH}/${gatewayId}?signature=${signatureOf(gatewayId, secret)}`;
  return messageId === undefined ? url : `${url}&message=${messageId}`;
}

/** Whether a signature is valid for the gateway's address. */
export function isCallback(gatewayId: string, signature: string, secret: string): boolean {
  return isSameSecret(signature, signatureOf(gatewayId, secret));
}

function signatureOf(gatewayId: string, secret: string): string {
  return createHmac('sha256', secret).update(`sms\n${gatewayId}`).digest('hex');
}

/** Content of a callback. */
export type SmsCallback =
  | { readonly kind: 'report'; readonly providerId: string | null; readonly news: SmsNews }
  | { readonly kind: 'incoming'; readonly from: string; readonly text: string };

/** Paths of the fields in a gateway's callback; several paths where formats differ. */
interface Format {
  readonly id: readonly string[];
  readonly status: readonly string[];
  readonly error: readonly string[];
  readonly from: readonly string[];
  readonly text: readonly string[];
}

const FORMATS: Readonly<Record<SmsPreset, Format>> = {
  /** @see https://www.twilio.com/docs/messaging/guides/track-outbound-message-status */
  twilio: {
    ...{ id: ['MessageSid'], status: ['MessageStatus'], error: ['ErrorCode'] },
    ...{ from: ['From'], text: ['Body'] },
  },
  /** @see https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks */
  telnyx: {
    ...{ id: ['data.payload.id'], status: ['data.payload.to.0.status'] },
    error: ['data.payload.errors.0.code'],
    ...{ from: ['data.payload.from.phone_number'], text: ['data.payload.text'] },
  },
  /** @see https://developer.vonage.com/en/messaging/sms/guides/delivery-receipts */
  vonage: {
    ...{ id: ['messageId'], status: ['status'], error: ['err-code'] },
    ...{ from: ['msisdn'], text: ['text'] },
  },
  /** @see https://docs.seven.io/en/rest-api/webhooks */
  seven: {
    ...{ id: ['data.msg_id'], status: ['data.status'], error: [] },
    ...{ from: ['data.sender'], text: ['data.text'] },
  },
  webhook: {
    ...{ id: ['providerId'], status: ['status'], error: ['reason'] },
    ...{ from: ['from'], text: ['text'] },
  },
};

/** Status words of all gateways, as our states; unknown words change nothing. */
const STATES: Readonly<Record<string, Exclude<SmsState, 'accepted' | 'unknown'>>> = {
  ...{ sent: 'sent', accepted: 'sent', buffered: 'sent', transmitted: 'sent' },
  delivered: 'delivered',
  ...{ failed: 'failed', undelivered: 'failed', notdelivered: 'failed', rejected: 'failed' },
  ...{ expired: 'failed', sending_failed: 'failed', delivery_failed: 'failed', deleted: 'failed' },
};

/**
 * Reads a callback.
 *
 * @param body the fields of a form or a query, or the value of a JSON body.
 * @returns undefined where it is neither a report that changes something nor an incoming message.
 */
export function readCallback(preset: SmsPreset, body: unknown): SmsCallback | undefined {
  const format = FORMATS[preset];
  if (!isIncoming(preset, body)) return reportOf(format, body);
  const from = textAt(body, format.from);
  const text = textAt(body, format.text);
  if (from === undefined || text === undefined) return undefined;
  const number = from.startsWith('+') ? from : `+${from}`;
  return isPhoneNumber(number) ? { kind: 'incoming', from: number, text } : undefined;
}

/** Telnyx and seven name their events; for the others, a callback without a status is a message. */
function isIncoming(preset: SmsPreset, body: unknown): boolean {
  if (preset === 'telnyx') return valueAt(body, 'data.event_type') === 'message.received';
  if (preset === 'seven') return valueAt(body, 'webhook_event') === 'sms_mo';
  return textAt(body, FORMATS[preset].status) === undefined;
}

function reportOf(format: Format, body: unknown): SmsCallback | undefined {
  const word = textAt(body, format.status)?.toLowerCase() ?? '';
  const status = Object.hasOwn(STATES, word) ? STATES[word] : undefined;
  if (status === undefined) return undefined;
  const code = textAt(body, format.error);
  const reason = status === 'failed' ? `the network reported "${word}"${codeText(code)}` : null;
  return {
    kind: 'report',
    providerId: textAt(body, format.id) ?? null,
    news: { status, reason },
  };
}

/** A sentence of a gateway may hold a number; a code holds none. */
function codeText(code: string | undefined): string {
  return code !== undefined && /^[\w.:-]{1,12}$/.test(code) && code !== '0' ? ` (${code})` : '';
}

function textAt(body: unknown, paths: readonly string[]): string | undefined {
  const values = paths.map((path) => valueAt(body, path));
  const found = values.find((value) => typeof value === 'string' || typeof value === 'number');
  return found === undefined ? undefined : String(found).slice(0, 2000);
}
