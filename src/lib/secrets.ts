/** Secrets: short texts sealed with AES-256-GCM, so that a copy of where they are kept does not tell them; random texts, their hashes, and comparison in constant time. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** Length of a key, in bytes. */
export const KEY_BYTES = 32;

const [NONCE_BYTES, TAG_BYTES] = [12, 16];

/** `sealed:1:`, eight hexadecimal digits of the key's SHA-256, and nonce, text and tag as base64url. */
const SEALED = /^sealed:1:(?<keyId>[0-9a-f]{8}):(?<bytes>[0-9A-Za-z_-]+)$/;

/** A sealed text that none of the keys opens, or that was changed. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Seals with the first of its keys, and opens with any. @see NIST SP 800-38D */
export class SecretBox {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #newest: readonly [id: string, key: Buffer];

  /** @param keys Of 32 bytes each. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    const named = keys.map((key) => [idOf(key), key] as const);
    this.#keys = new Map(named);
    this.#newest = [idOf(keys[0]), keys[0]];
  }

  /** @param purpose Use of the secret: only the same purpose opens it. */
  seal(text: string, purpose: string): string {
    const [id, key] = this.#newest;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()]);
    const bytes = Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url');
    return `sealed:1:${id}:${bytes}`;
  }

  /**
   * A text that is not sealed is returned as it is: a version before this one kept it.
   *
   * @throws {SealError}
   */
  open(text: string, purpose: string): string {
    const { keyId, bytes } = SEALED.exec(text)?.groups ?? {};
    if (keyId === undefined || bytes === undefined) return text;
    const key = this.#keys.get(keyId);
    if (key === undefined)
      throw new SealError(`Cannot open a secret: its key ${keyId} is not here`);
    const sealed = Buffer.from(bytes, 'base64url');
    const end = sealed.length - TAG_BYTES;
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(end));
      const opened = decipher.update(sealed.subarray(NONCE_BYTES, end));
      return Buffer.concat([opened, decipher.final()]).toString('utf8');
    } catch (error) {
      throw new SealError('Cannot open a secret: it was changed', { cause: error });
    }
  }

  /** Whether the text is sealed with the first key. */
  isNewest(text: string): boolean {
    const { keyId } = SEALED.exec(text)?.groups ?? {};
    return keyId === this.#newest[0];
  }
}

function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

/** Compares in a time that does not tell how much of `given` is right. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

/** Texts of different lengths become comparable, and the length stays secret. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** 256 random bits cannot be guessed, so a plain hash suffices. */
const SECRET_BYTES = 32;

/** Makes 43 characters of base64url. */
export function newSecretText(random: (size: number) => Uint8Array): string {
  return Buffer.from(random(SECRET_BYTES)).toString('base64url');
}

/** SHA-256, lowercase hexadecimal. */
export function hashOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
