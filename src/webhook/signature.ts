/** Signs what is sent, in the service's own way and in that of Standard Webhooks; pure */
import { createHmac } from 'node:crypto';

/** What is signed at one attempt. */
export interface SignedContent {
  /** `evt_…`. */
  readonly id: string;
  /** Unix seconds, in decimal. */
  readonly timestamp: string;
  /** The raw body. */
  readonly body: Uint8Array;
}

/** The keys of one environment. */
export interface SigningKeys {
  readonly secret: string;
  /** The one before a rotation of the last 24 h; null when there is none. */
  readonly previousSecret: string | null;
}

/**
 * The headers that prove where a delivery comes from, as a flat list of names and values.
 *
 * ```
 * X-Service-Timestamp  1774000000
 * X-Service-Signature  HMAC-SHA256(secret, timestamp.body), lowercase hexadecimal
 * webhook-id           evt_…
 * webhook-timestamp    1774000000
 * webhook-signature    v1,HMAC-SHA256(key, id.timestamp.body), Base64; after a rotation both keys', with a space between
 * ```
 *
 * @see the interface specification, "Webhook deliveries"
 * @see https://github.com/standard-webhooks/standard-webhooks, "Webhook headers"
 */
export function signatureHeaders(content: SignedContent, keys: SigningKeys): string[] {
  return [
    'X-Service-Timestamp',
    content.timestamp,
    'X-Service-Signature',
    serviceSignature(content, keys.secret),
    'webhook-id',
    content.id,
    'webhook-timestamp',
    content.timestamp,
    'webhook-signature',
    standardSignatures(content, keys),
  ];
}

/** The secret signs as it is written, `whsec_` included. */
function serviceSignature({ timestamp, body }: SignedContent, secret: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
}

function standardSignatures(content: SignedContent, keys: SigningKeys): string {
  const newest = standardSignature(content, keys.secret);
  if (keys.previousSecret === null) return newest;
  return `${newest} ${standardSignature(content, keys.previousSecret)}`;
}

function standardSignature({ id, timestamp, body }: SignedContent, secret: string): string {
  const { key, encoding } = standardKey(secret);
  const hmac = createHmac('sha256', key, { encoding }).update(`${id}.${timestamp}.`);
  return `v1,${hmac.update(body).digest('base64')}`;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The key of Standard Webhooks: the bytes behind `whsec_`. A secret that an operator chose may not be Base64: then its
 * text is the key, as it is for the libraries' `raw` format, which is the only one that takes such a secret.
 *
 * @returns the key as text with its encoding: node makes a signature of that five times sooner than of bytes.
 */
function standardKey(secret: string): { readonly key: string; readonly encoding: BufferEncoding } {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  const isBase64 = encoded !== '' && BASE64.test(encoded);
  return isBase64 ? { key: encoded, encoding: 'base64' } : { key: secret, encoding: 'utf8' };
}
