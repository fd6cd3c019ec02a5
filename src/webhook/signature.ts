/** Signs webhook deliveries: the service's own header and the Standard Webhooks headers; pure */
import { createHmac } from 'node:crypto';
import { BASE64 } from '../domain/account/api-key.ts';

/** Content that one attempt signs. */
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
export function signatureHeaders(
  { id, timestamp, body }: SignedContent,
  { secret, otherSecrets }: SigningKeys,
): Record<string, string> {
  const standard = (each: string) =>
    `v1,${createHmac('sha256', standardKey(each)).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'X-Service-Timestamp': timestamp,
    // The secret signs as it is written, `whsec_` included.
    'X-Service-Signature': createHmac('sha256', secret)
      .update(`${timestamp}.${body}`)
      .digest('hex'),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': [secret, ...otherSecrets].map(standard).join(' '),
  };
}

/**
 * The key of Standard Webhooks: the bytes behind `whsec_`. A secret that an operator chose may not be Base64: then its
 * text is the key, as it is for the libraries' `raw` format, which is the only one that takes such a secret.
 */
function standardKey(secret: string): Buffer {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  const isBase64 = encoded !== '' && BASE64.test(encoded);
  return isBase64 ? Buffer.from(encoded, 'base64') : Buffer.from(secret);
}
