/** Checks that webhook deliveries come from the server, and are new. */
import { WebhookSignatureError } from './errors.ts';
import type { WebhookEvent } from './generated/types.ts';

/** Headers as Node, `Request` and frameworks have them; names in any case. */
export type WebhookHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A delivery must be no older, in seconds. */
const AGE_SECONDS_MAX = 300;

/**
 * Gives the event of a delivery that is genuine: HMAC-SHA256 over the timestamp, a dot and the raw body, compared in
 * constant time, at most five minutes old.
 *
 * @param rawBody As it came, before any parser has touched it.
 * @param secret `whsec_…`; several while it is being changed.
 * @throws {WebhookSignatureError} when it is not; `reason` says why.
 */
export async function verify(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  nowMs: number = Date.now(),
): Promise<WebhookEvent> {
  const timestamp = headerOf(headers, 'x-service-timestamp');
  const signature = headerOf(headers, 'x-service-signature');
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!(await isSigned({ timestamp, signature, body }, secrets))) {
    throw refused('wrong-signature', 'its signature is not of this secret and body');
  }
  if (!/^\d{1,12}$/.test(timestamp) || isOld(Number(timestamp), nowMs)) {
    throw refused('too-old', `its timestamp is over ${AGE_SECONDS_MAX} seconds away`);
  }
  return eventOf(body);
}

interface Signed {
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Uint8Array;
}

async function isSigned(
  { timestamp, signature, body }: Signed,
  secrets: readonly string[],
): Promise<boolean> {
  const given = bytesOfHex(signature);
  const content = joined(new TextEncoder().encode(`${timestamp}.`), body);
  let isGood = false;
  for (const secret of secrets) {
    const bytes = new TextEncoder().encode(secret);
    if (bytes.byteLength === 0) throw new TypeError('Cannot verify a webhook: the secret is empty');
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['verify']);
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, given, content)) isGood = true;
  }
  return isGood;
}

function isOld(timestampSeconds: number, nowMs: number): boolean {
  return Math.abs(Math.floor(nowMs / 1000) - timestampSeconds) > AGE_SECONDS_MAX;
}

function eventOf(body: Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof Object(event).event === 'string') return event as WebhookEvent;
  } catch (error) {
    throw new WebhookSignatureError('Cannot trust the webhook: its body is no JSON', {
      reason: 'not-an-event',
      cause: error,
    });
  }
  throw refused('not-an-event', 'its body names no event');
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const found = entries.find(([each]) => each.toLowerCase() === name)?.[1];
  if (typeof found === 'string') return found;
  throw refused('missing-header', `it has no ${name}, or several`);
}

/** Empty for what is no hexadecimal of whole bytes. */
function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  const isHex = /^(?:[0-9a-f]{2})*$/i.test(text);
  const pairs = isHex ? (text.match(/../g) ?? []) : [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.byteLength + second.byteLength);
  whole.set(first);
  whole.set(second, first.byteLength);
  return whole;
}

function refused(reason: WebhookSignatureError['reason'], why: string): WebhookSignatureError {
  return new WebhookSignatureError(`Cannot trust the webhook: ${why}`, { reason });
}
