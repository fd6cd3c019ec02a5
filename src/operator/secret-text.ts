/** Secrets that a browser shows: how they are made, and kept as a hash; pure */
import { createHash } from 'node:crypto';
import type { RandomBytes } from '../domain/ids.ts';

/** 256 random bits cannot be guessed, so a plain hash suffices. */
const SECRET_BYTES = 32;

/** Makes 43 characters of base64url. */
export function newSecretText(random: RandomBytes): string {
  return Buffer.from(random(SECRET_BYTES)).toString('base64url');
}

/** SHA-256, lowercase hexadecimal. */
export function hashOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
