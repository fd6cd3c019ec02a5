/** SRTP and SRTCP packet transforms for one direction's keys: crypto suites, session keys, encryption and authentication, without any state; pure */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';

/** Suites as SDP names them. @see RFC 4568 section 6.2, RFC 7714 section 14.1 */
export type CryptoSuite =
  | 'AES_CM_128_HMAC_SHA1_80'
  | 'AES_CM_128_HMAC_SHA1_32'
  | 'AEAD_AES_128_GCM';

interface SuiteFacts {
  readonly isAead: boolean;
  /** Salt of the master key and of the session keys. */
  readonly saltBytes: number;
  /** Authentication tag of an SRTP packet. */
  readonly rtpTagBytes: number;
  /** Authentication tag of an SRTCP packet: never shortened. RFC 3711, 4.2.1. */
  readonly rtcpTagBytes: number;
}

/** In the order of our offers: first the suite that every SRTP implementation has. */
export const CRYPTO_SUITES: Readonly<Record<CryptoSuite, SuiteFacts>> = {
  AES_CM_128_HMAC_SHA1_80: { isAead: false, saltBytes: 14, rtpTagBytes: 10, rtcpTagBytes: 10 },
  AEAD_AES_128_GCM: { isAead: true, saltBytes: 12, rtpTagBytes: 16, rtcpTagBytes: 16 },
  AES_CM_128_HMAC_SHA1_32: { isAead: false, saltBytes: 14, rtpTagBytes: 4, rtcpTagBytes: 10 },
};

/** Length of encryption keys, master and session. */
const KEY_BYTES = 16;

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
interface SessionKeys {
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
function deriveSessionKeys(
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

/** RTCP's first two words, which stay readable: type, length and SSRC of the first part. */
export const RTCP_CLEAR_BYTES = 8;

/** The word of an SRTCP packet that holds the encryption flag and the index. */
const RTCP_INDEX_BYTES = 4;

const IS_ENCRYPTED = 0x8000_0000;

/** One direction of a secured session. */
export interface Transform {
  /** @param index extended packet index: roll-over counter and sequence number, 48 bits. */
  protectRtp(packet: Uint8Array, index: number): Buffer;

  /** @returns undefined when the packet is malformed or its authentication fails. */
  unprotectRtp(packet: Uint8Array, index: number): Buffer | undefined;

  /** @param index SRTCP index, 31 bits. */
  protectRtcp(packet: Uint8Array, index: number): Buffer;

  /** @returns undefined when the packet is malformed or its authentication fails. */
  unprotectRtcp(packet: Uint8Array): OpenedRtcp | undefined;

  /** Octets that `protectRtp` adds. */
  readonly rtpTagBytes: number;
}

/** Creates the transform of a suite. */
export function createTransform(keys: SrtpKeys): Transform {
  const rtp = deriveSessionKeys(keys, 'rtp');
  const rtcp = deriveSessionKeys(keys, 'rtcp');
  const { isAead, rtpTagBytes, rtcpTagBytes } = CRYPTO_SUITES[keys.suite];
  return isAead
    ? new GcmTransform(rtp, rtcp)
    : new CounterTransform({ rtp, rtcp, rtpTagBytes, rtcpTagBytes });
}

/** An authenticated RTCP packet, and its SRTCP index. */
interface OpenedRtcp {
  readonly packet: Buffer;
  readonly index: number;
}

/** Index in the word at that place; undefined when the packet is too short or not encrypted. */
function rtcpIndexAt(packet: Buffer, at: number): number | undefined {
  if (at < RTCP_CLEAR_BYTES) return undefined;
  const word = packet.readUInt32BE(at);
  return word >= IS_ENCRYPTED ? word - IS_ENCRYPTED : undefined;
}

/**
 * AES in counter mode with HMAC-SHA1.
 *
 *     SRTP:  | RTP header | encrypted payload | tag |                    tag over all before it, and the roll-over counter
 *     SRTCP: | first 8 octets | encrypted rest | E, index | tag |        tag over all before it
 *
 * @see RFC 3711 sections 3.1, 3.4, 4.1.1, 4.2
 */
export class CounterTransform implements Transform {
  readonly rtpTagBytes: number;
  readonly #rtcpTagBytes: number;
  readonly #rtp: SessionKeys;
  readonly #rtcp: SessionKeys;
  readonly #rollOver = Buffer.alloc(4);

  constructor(options: {
    readonly rtp: SessionKeys;
    readonly rtcp: SessionKeys;
    readonly rtpTagBytes: number;
    readonly rtcpTagBytes: number;
  }) {
    this.#rtp = options.rtp;
    this.#rtcp = options.rtcp;
    this.rtpTagBytes = options.rtpTagBytes;
    this.#rtcpTagBytes = options.rtcpTagBytes;
  }

  protectRtp(packet: Uint8Array, index: number): Buffer {
    const plain = viewOf(packet);
    const start = headerBytesOf(plain) ?? plain.length;
    const sealed = Buffer.allocUnsafe(plain.length + this.rtpTagBytes);
    plain.copy(sealed, 0, 0, start);
    crypt(this.#rtp, { ssrc: plain.readUInt32BE(8), index }, plain.subarray(start)).copy(
      sealed,
      start,
    );
    this.#rtpTag(sealed.subarray(0, plain.length), index).copy(sealed, plain.length);
    return sealed;
  }

  unprotectRtp(packet: Uint8Array, index: number): Buffer | undefined {
    const sealed = viewOf(packet);
    const end = sealed.length - this.rtpTagBytes;
    const start = headerBytesOf(sealed);
    if (start === undefined || start > end) return undefined;
    const tag = this.#rtpTag(sealed.subarray(0, end), index);
    if (!timingSafeEqual(tag, sealed.subarray(end))) return undefined;
    const ssrc = sealed.readUInt32BE(8);
    const payload = crypt(this.#rtp, { ssrc, index }, sealed.subarray(start, end));
    return Buffer.concat([sealed.subarray(0, start), payload]);
  }

  protectRtcp(packet: Uint8Array, index: number): Buffer {
    const plain = viewOf(packet);
    const ssrc = plain.readUInt32BE(4);
    const rest = crypt(this.#rtcp, { ssrc, index }, plain.subarray(RTCP_CLEAR_BYTES));
    const sealed = Buffer.concat([plain.subarray(0, RTCP_CLEAR_BYTES), rest, indexWord(index)]);
    return Buffer.concat([sealed, this.#rtcpTag(sealed)]);
  }

  unprotectRtcp(packet: Uint8Array): OpenedRtcp | undefined {
    const sealed = viewOf(packet);
    const end = sealed.length - this.#rtcpTagBytes;
    const index = rtcpIndexAt(sealed, end - RTCP_INDEX_BYTES);
    if (index === undefined) return undefined;
    const tag = this.#rtcpTag(sealed.subarray(0, end));
    if (!timingSafeEqual(tag, sealed.subarray(end))) return undefined;
    const ssrc = sealed.readUInt32BE(4);
    const encrypted = sealed.subarray(RTCP_CLEAR_BYTES, end - RTCP_INDEX_BYTES);
    const rest = crypt(this.#rtcp, { ssrc, index }, encrypted);
    return { packet: Buffer.concat([sealed.subarray(0, RTCP_CLEAR_BYTES), rest]), index };
  }

  #rtpTag(authenticated: Uint8Array, index: number): Buffer {
    this.#rollOver.writeUInt32BE(Math.floor(index / 2 ** 16));
    const hmac = createHmac('sha1', this.#rtp.authentication).update(authenticated);
    return hmac.update(this.#rollOver).digest().subarray(0, this.rtpTagBytes);
  }

  #rtcpTag(authenticated: Uint8Array): Buffer {
    const hmac = createHmac('sha1', this.#rtcp.authentication).update(authenticated);
    return hmac.digest().subarray(0, this.#rtcpTagBytes);
  }
}

/** AES-CM: encrypts and decrypts alike. IV = salt XOR (SSRC at octet 4) XOR (index at octet 8). RFC 3711, 4.1.1. */
function crypt(
  { encryption, salt }: SessionKeys,
  { ssrc, index }: { readonly ssrc: number; readonly index: number },
  bytes: Uint8Array,
): Buffer {
  const counter = Buffer.alloc(16);
  counter.writeUInt32BE(ssrc, 4);
  counter.writeUIntBE(index, 8, 6);
  xorInto(counter, salt);
  return createCipheriv('aes-128-ctr', encryption, counter).update(bytes);
}

const GCM = 'aes-128-gcm';
const GCM_TAG_BYTES = 16;

/**
 * AES in Galois/counter mode.
 *
 *     SRTP:  | RTP header | encrypted payload | tag |                    header is authenticated too
 *     SRTCP: | first 8 octets | encrypted rest | tag | E, index |        octets and index are authenticated too
 *
 * @see RFC 7714 sections 8 and 9
 */
export class GcmTransform implements Transform {
  readonly rtpTagBytes = GCM_TAG_BYTES;
  readonly #rtp: SessionKeys;
  readonly #rtcp: SessionKeys;

  constructor(rtp: SessionKeys, rtcp: SessionKeys) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
  }

  protectRtp(packet: Uint8Array, index: number): Buffer {
    const plain = viewOf(packet);
    const start = headerBytesOf(plain) ?? plain.length;
    const header = plain.subarray(0, start);
    const iv = rtpIv(plain.readUInt32BE(8), index, this.#rtp.salt);
    return Buffer.concat([header, seal(this.#rtp, { iv, header }, plain.subarray(start))]);
  }

  unprotectRtp(packet: Uint8Array, index: number): Buffer | undefined {
    const sealed = viewOf(packet);
    const start = headerBytesOf(sealed);
    if (start === undefined || start > sealed.length - GCM_TAG_BYTES) return undefined;
    const header = sealed.subarray(0, start);
    const iv = rtpIv(sealed.readUInt32BE(8), index, this.#rtp.salt);
    const payload = unseal(this.#rtp, { iv, header }, sealed.subarray(start));
    return payload && Buffer.concat([header, payload]);
  }

  protectRtcp(packet: Uint8Array, index: number): Buffer {
    const plain = viewOf(packet);
    const clear = plain.subarray(0, RTCP_CLEAR_BYTES);
    const word = indexWord(index);
    const iv = rtcpIv(plain.readUInt32BE(4), index, this.#rtcp.salt);
    const header = Buffer.concat([clear, word]);
    const rest = seal(this.#rtcp, { iv, header }, plain.subarray(RTCP_CLEAR_BYTES));
    return Buffer.concat([clear, rest, word]);
  }

  unprotectRtcp(packet: Uint8Array): OpenedRtcp | undefined {
    const sealed = viewOf(packet);
    const end = sealed.length - RTCP_INDEX_BYTES;
    const index = rtcpIndexAt(sealed, end);
    if (index === undefined || end < RTCP_CLEAR_BYTES + GCM_TAG_BYTES) return undefined;
    const clear = sealed.subarray(0, RTCP_CLEAR_BYTES);
    const header = Buffer.concat([clear, sealed.subarray(end)]);
    const iv = rtcpIv(sealed.readUInt32BE(4), index, this.#rtcp.salt);
    const rest = unseal(this.#rtcp, { iv, header }, sealed.subarray(RTCP_CLEAR_BYTES, end));
    return rest && { packet: Buffer.concat([clear, rest]), index };
  }
}

interface SealParts {
  readonly iv: Buffer;
  /** Authenticated and not encrypted. */
  readonly header: Buffer;
}

function seal({ encryption }: SessionKeys, { iv, header }: SealParts, plain: Buffer): Buffer {
  const cipher = createCipheriv(GCM, encryption, iv).setAAD(header);
  const encrypted = cipher.update(plain);
  cipher.final();
  return Buffer.concat([encrypted, cipher.getAuthTag()]);
}

function unseal(
  { encryption }: SessionKeys,
  { iv, header }: SealParts,
  sealed: Buffer,
): Buffer | undefined {
  const end = sealed.length - GCM_TAG_BYTES;
  const options = { authTagLength: GCM_TAG_BYTES };
  const decipher = createDecipheriv(GCM, encryption, iv, options).setAAD(header);
  const plain = decipher.setAuthTag(sealed.subarray(end)).update(sealed.subarray(0, end));
  try {
    decipher.final();
    return plain;
  } catch {
    // The tag is wrong: `final` reports nothing else.
    return undefined;
  }
}

/** Two zero octets, SSRC, roll-over counter and sequence number, XOR the salt. RFC 7714, 8.1. */
function rtpIv(ssrc: number, index: number, salt: Buffer): Buffer {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(ssrc, 2);
  iv.writeUIntBE(index, 6, 6);
  return xorInto(iv, salt);
}

/** Two zero octets, SSRC, two zero octets, index, XOR the salt. RFC 7714, 9.1. */
function rtcpIv(ssrc: number, index: number, salt: Buffer): Buffer {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(ssrc, 2);
  iv.writeUInt32BE(index, 8);
  return xorInto(iv, salt);
}

function xorInto(target: Buffer, salt: Buffer): Buffer {
  for (let at = 0; at < salt.length; at += 1) target[at] = (target[at] ?? 0) ^ (salt[at] ?? 0);
  return target;
}

function indexWord(index: number): Buffer {
  const word = Buffer.alloc(RTCP_INDEX_BYTES);
  word.writeUInt32BE(IS_ENCRYPTED + index);
  return word;
}

/** Length of an RTP header with contributing sources and extension; undefined when the packet is shorter. */
function headerBytesOf(packet: Buffer): number | undefined {
  if (packet.length < 12) return undefined;
  const first = packet.readUInt8(0);
  const fixed = 12 + (first & 0x0f) * 4;
  if ((first & 0x10) === 0) return fixed <= packet.length ? fixed : undefined;
  if (fixed + 4 > packet.length) return undefined;
  const whole = fixed + 4 + packet.readUInt16BE(fixed + 2) * 4;
  return whole <= packet.length ? whole : undefined;
}

function viewOf(packet: Uint8Array): Buffer {
  return Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength);
}
