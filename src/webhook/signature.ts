/** Signs webhook deliveries: the service's own header and the Standard Webhooks headers; pure */
import { createHmac } from 'node:crypto';

/** What is signed at one attempt. */
interface SignedContent {
  /** `evt_…`. */
  readonly id: string;
  /** Unix seconds, in decimal. */
  readonly timestamp: string;
  /** The body as it is stored. */
  readonly body: string;
}

/** The keys of one environment. */
export interface SigningKeys {
  readonly secret: string;
  /** Sign the Standard Webhooks header as well: the prepared one, and the previous one for 24 h. */
  readonly otherSecrets: readonly string[];
}

/** A body with the headers that prove where it comes from, as a flat list of names and values. */
export interface SignedRequest {
  readonly headers: string[];
  readonly body: Uint8Array;
}

/**
 * Signs a delivery.
 *
 * ```
 * X-Service-Timestamp  1774000000
 * X-Service-Signature  HMAC-SHA256(secret, timestamp.body), lowercase hexadecimal
 * webhook-id           evt_…
 * webhook-timestamp    1774000000
 * webhook-signature    v1,HMAC-SHA256(key, id.timestamp.body), Base64; one for each secret, with a space between
 * ```
 *
 * @see the interface specification, "Webhook deliveries"
 * @see https://github.com/standard-webhooks/standard-webhooks, "Webhook headers"
 */
export function signedRequest(content: SignedContent, keys: SigningKeys): SignedRequest {
  const { id, timestamp, body } = content;
  // One piece of memory holds all three, as each ends like the one before: id.timestamp.body, timestamp.body, body.
  const standardContent = Buffer.from(`${id}.${timestamp}.${body}`);
  const serviceContent = standardContent.subarray(Buffer.byteLength(id) + 1);
  const headers = [
    'X-Service-Timestamp',
    timestamp,
    'X-Service-Signature',
    serviceSignature(serviceContent, keys.secret),
    'webhook-id',
    id,
    'webhook-timestamp',
    timestamp,
    'webhook-signature',
    standardSignatures(standardContent, keys),
  ];
  return { headers, body: serviceContent.subarray(timestamp.length + 1) };
}

/** The secret signs as it is written, `whsec_` included. */
function serviceSignature(content: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(content).digest('hex');
}

function standardSignatures(content: Uint8Array, keys: SigningKeys): string {
  const secrets = [keys.secret, ...keys.otherSecrets];
  return secrets.map((secret) => standardSignature(content, secret)).join(' ');
}

function standardSignature(content: Uint8Array, secret: string): string {
  const { key, encoding } = standardKey(secret);
  return `v1,${createHmac('sha256', key, { encoding }).update(content).digest('base64')}`;
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
