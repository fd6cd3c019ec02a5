/** Secrets that a browser shows: how they are made, kept as a hash, and compared; pure */
import { createHash, timingSafeEqual } from 'node:crypto';
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

/** Compares without telling by its time how much is the same. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashOfText(one)), Buffer.from(hashOfText(other)));
}
