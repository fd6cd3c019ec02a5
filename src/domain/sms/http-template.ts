/** HTTP requests that hand messages to a gateway: templates with places, presets of known gateways, meaning of answers; pure */
import { jsonOf, valueAt } from '../../lib/unknown-value.ts';
import { gsmOctetsOf } from './sms-rules.ts';

/** A request that sends one message. Places such as `{to}` stand in texts: see `PLACES`. */
export interface HttpTemplate {
  readonly format: 'json' | 'form';
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of the body. */
  readonly body: Readonly<Record<string, string>>;
  /** Dotted path of the gateway's identifier in a JSON answer; null where it gives none. */
  readonly idPath: string | null;
}

/**
 * Places of a template: the recipient and the sender in E.164 and as digits alone, the text, its alphabet (`text` for the basic
 * one of SMS, else `unicode`), our own identifier, the address for reports, and the credentials as they are and as HTTP Basic.
 */
export const PLACES = [
  ...['to', 'toDigits', 'from', 'fromDigits', 'text', 'alphabet', 'id', 'statusUrl'],
  ...['username', 'secret', 'basic'],
] as const;

/** Gateways with a format of their own; `webhook` is a server of the customer's. */
export const SMS_PRESETS = ['twilio', 'telnyx', 'vonage', 'seven', 'webhook'] as const;

/** One of `SMS_PRESETS`. */
export type SmsPreset = (typeof SMS_PRESETS)[number];

interface Preset extends HttpTemplate {
  /** URL of requests; null where the customer sets it. */
  readonly url: string | null;
  /** Credentials that a gateway must have. */
  readonly needs: readonly ('username' | 'secret')[];
  /** Field of a 2xx answer that tells whether the message was taken, and its value for yes; the status alone decides unless given. */
  readonly taken?: { readonly path: string; readonly value: string };
}

/** Requests of known gateways. */
export const PRESETS: Readonly<Record<SmsPreset, Preset>> = {
  /** @see https://www.twilio.com/docs/messaging/api/message-resource, "Create a Message" */
  twilio: {
    url: 'https://api.twilio.com/2010-04-01/Accounts/{username}/Messages.json',
    needs: ['username', 'secret'],
    format: 'form',
    headers: { Authorization: 'Basic {basic}' },
    body: { To: '{to}', From: '{from}', Body: '{text}', StatusCallback: '{statusUrl}' },
    idPath: 'sid',
  },
  /** @see https://developers.telnyx.com/api-reference/messages/send-a-message */
  telnyx: {
    url: 'https://api.telnyx.com/v2/messages',
    needs: ['secret'],
    format: 'json',
    headers: { Authorization: 'Bearer {secret}' },
    body: { to: '{to}', from: '{from}', text: '{text}', webhook_url: '{statusUrl}' },
    idPath: 'data.id',
  },
  /** @see https://developer.vonage.com/en/api/sms, "Send an SMS" */
  vonage: {
    url: 'https://rest.nexmo.com/sms/json',
    needs: ['username', 'secret'],
    format: 'form',
    headers: { Authorization: 'Basic {basic}' },
    body: {
      ...{ to: '{toDigits}', from: '{fromDigits}', text: '{text}', type: '{alphabet}' },
      ...{ callback: '{statusUrl}', 'client-ref': '{id}' },
    },
    idPath: 'messages.0.message-id',
    taken: { path: 'messages.0.status', value: '0' },
  },
  /** @see https://docs.seven.io/en/rest-api/endpoints/sms */
  seven: {
    url: 'https://gateway.seven.io/api/sms',
    needs: ['secret'],
    format: 'json',
    headers: { 'X-Api-Key': '{secret}', Accept: 'application/json' },
    body: { to: '{toDigits}', from: '{fromDigits}', text: '{text}', foreign_id: '{id}' },
    idPath: 'messages.0.id',
    taken: { path: 'success', value: '100' },
  },
  webhook: {
    url: null,
    needs: [],
    format: 'json',
    headers: {},
    body: {
      ...{ id: '{id}', to: '{to}', from: '{from}', text: '{text}' },
      statusUrl: '{statusUrl}',
    },
    idPath: 'id',
  },
};

/** Values for the places of a template. */
export type TemplateFacts = Readonly<
  Record<'to' | 'from' | 'text' | 'id' | 'statusUrl' | 'username' | 'secret', string>
>;

/** A request as it is sent. */
export interface SmsRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Fills a template. Values are never read as templates again.
 *
 * @param url with the place `{username}` in the path at most.
 */
export function requestOf(url: string, template: HttpTemplate, facts: TemplateFacts): SmsRequest {
  const { format } = template;
  const values: Readonly<Record<string, string>> = {
    ...facts,
    toDigits: digitsOf(facts.to),
    fromDigits: digitsOf(facts.from),
    alphabet: gsmOctetsOf(facts.text) === undefined ? 'unicode' : 'text',
    basic: Buffer.from(`${facts.username}:${facts.secret}`).toString('base64'),
  };
  const filled = (text: string, write = (value: string) => value) =>
    text.replace(PLACE, (all, name: string) => write(values[name] ?? all));
  const entries = Object.entries(template.body).map(([name, text]) => [name, filled(text)]);
  const own = Object.entries(template.headers).map(([name, text]) => [name, filled(text)]);
  const body = Object.fromEntries(entries);
  return {
    url: new URL(filled(url, encodeURIComponent)),
    headers: { ...Object.fromEntries(own), 'Content-Type': MEDIA_TYPES[format] },
    body: format === 'json' ? JSON.stringify(body) : new URLSearchParams(body).toString(),
  };
}

const PLACE = /\{([A-Za-z]+)\}/g;

const MEDIA_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const;

/** Texts that name a place which does not exist. */
export function unknownPlaces(texts: readonly string[]): readonly string[] {
  const known: readonly string[] = PLACES;
  const named = texts.flatMap((text) => [...text.matchAll(PLACE)].map(([, name = '']) => name));
  return named.filter((name) => !known.includes(name));
}

/** A sender may be a name, which stays as it is. */
function digitsOf(number: string): string {
  return number.replace(/^\+/, '');
}

/** Result for the message, according to the gateway's answer. */
export type SmsAnswer =
  | { readonly kind: 'sent'; readonly providerId: string | null }
  | { readonly kind: 'refused' | 'unclear'; readonly reason: string };

const ID_CHARS_MAX = 200;

/** A server that broke, or a proxy whose server did not answer, may have taken the message. RFC 9110, 15.6. */
const UNCLEAR: readonly number[] = [500, 502, 504];

/**
 * Reads the answer to a request. The reason holds codes alone: gateways repeat numbers in their sentences.
 *
 * @param text of the body; need not be JSON.
 */
export function readAnswer(
  preset: SmsPreset,
  template: HttpTemplate,
  { statusCode, text }: { readonly statusCode: number; readonly text: string },
): SmsAnswer {
  const json = jsonOf(text);
  if (statusCode < 200 || statusCode > 299) {
    const code = valueAt(json, 'code') ?? valueAt(json, 'errors.0.code');
    const why = code === undefined ? '' : ` with code ${shown(code)}`;
    const kind = UNCLEAR.includes(statusCode) ? 'unclear' : 'refused';
    return { kind, reason: `the gateway answered ${statusCode}${why}` };
  }
  const { taken } = PRESETS[preset];
  if (taken !== undefined) {
    const value = valueAt(json, taken.path);
    if (value === undefined) return { kind: 'unclear', reason: 'its answer could not be read' };
    if (String(value) !== taken.value) {
      return { kind: 'refused', reason: `the gateway refused it with code ${shown(value)}` };
    }
  }
  const id = template.idPath === null ? undefined : valueAt(json, template.idPath);
  const isId = typeof id === 'string' || typeof id === 'number';
  return { kind: 'sent', providerId: isId ? String(id).slice(0, ID_CHARS_MAX) : null };
}

/** A code as a reason shows it. */
function shown(code: unknown): string {
  return /^[\w.:-]{1,20}$/.test(String(code)) ? String(code) : 'unknown';
}
