/** SRTP crypto suites, their sizes, and the session keys that follow from a master key; pure */
import { createCipheriv, createSecretKey, type KeyObject } from 'node:crypto';

/** Suites as SDP names them. @see RFC 4568 section 6.2, RFC 7714 section 14.1 */
export type CryptoSuite =
  | 'AES_CM_128_HMAC_SHA1_80'
  | 'AES_CM_128_HMAC_SHA1_32'
  | 'AEAD_AES_128_GCM';

interface SuiteFacts {
  readonly isAead: boolean;
  /** Of the master key and of the session keys. */
  readonly saltBytes: number;
  /** Of an SRTP packet. */
  readonly rtpTagBytes: number;
  /** Of an SRTCP packet: never shortened. RFC 3711, 4.2.1. */
  readonly rtcpTagBytes: number;
}

/** In the order of our offers: first the suite that every SRTP implementation has. */
export const CRYPTO_SUITES: Readonly<Record<CryptoSuite, SuiteFacts>> = {
  AES_CM_128_HMAC_SHA1_80: { isAead: false, saltBytes: 14, rtpTagBytes: 10, rtcpTagBytes: 10 },
  AEAD_AES_128_GCM: { isAead: true, saltBytes: 12, rtpTagBytes: 16, rtcpTagBytes: 16 },
  AES_CM_128_HMAC_SHA1_32: { isAead: false, saltBytes: 14, rtpTagBytes: 4, rtcpTagBytes: 10 },
};

/** Length of encryption keys, master and session. */
export const KEY_BYTES = 16;

const AUTH_KEY_BYTES = 20;

/** Longest salt: that of AES-CM; a shorter one is followed by zeros in the key derivation. RFC 7714, 11. */
const DERIVATION_SALT_BYTES = 14;

/** One direction's agreed keys. */
export interface SrtpKeys {
  readonly suite: CryptoSuite;
  /** Master key and master salt, Base64 as in SDP. Secret. */
  readonly inline: string;
}

/** Keys of one stream direction and protocol, as key objects: OpenSSL would import octets again for each packet. */
export interface SessionKeys {
  readonly encryption: KeyObject;
  readonly authentication: KeyObject;
  readonly salt: Buffer;
}

/** Labels of the key derivation. @see RFC 3711 section 4.3.2 */
const LABELS = {
  rtp: { encryption: 0, authentication: 1, salt: 2 },
  rtcp: { encryption: 3, authentication: 4, salt: 5 },
} as const;

/** Length of an `inline:` key of the suite: master key and master salt. */
export function inlineBytesOf(suite: CryptoSuite): number {
  return KEY_BYTES + CRYPTO_SUITES[suite].saltBytes;
}

/** Derives the session keys, with a key derivation rate of 0. @see RFC 3711 section 4.3 */
export function deriveSessionKeys(
  { suite, inline }: SrtpKeys,
  protocol: keyof typeof LABELS,
): SessionKeys {
  const master = Buffer.from(inline, 'base64');
  const key = master.subarray(0, KEY_BYTES);
  const salt = master.subarray(KEY_BYTES);
  const labels = LABELS[protocol];
  const derive = (label: number, bytes: number) => deriveKey({ key, salt, label, bytes });
  return {
    encryption: createSecretKey(derive(labels.encryption, KEY_BYTES)),
    authentication: createSecretKey(derive(labels.authentication, AUTH_KEY_BYTES)),
    salt: derive(labels.salt, CRYPTO_SUITES[suite].saltBytes),
  };
}

/** The pseudo-random function AES-CM: key stream from the salt with the label in its eighth octet. RFC 3711, 4.3.3. */
export function deriveKey(options: {
  readonly key: Uint8Array;
  readonly salt: Uint8Array;
  readonly label: number;
  readonly bytes: number;
}): Buffer {
  const { key, salt, label, bytes } = options;
  const counter = Buffer.alloc(16);
  counter.set(salt.subarray(0, DERIVATION_SALT_BYTES));
  counter[7] = (counter[7] ?? 0) ^ label;
  return createCipheriv('aes-128-ctr', key, counter).update(Buffer.alloc(bytes));
}
