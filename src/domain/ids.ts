/** Ids: a prefix that says the kind, then 24 characters that cannot be guessed; pure */
import { ServiceError } from './service-error.ts';

/** Prefix of an id: the kind of record. */
export type IdPrefix =
  | 'acct'
  | 'agent'
  | 'appt'
  | 'aud'
  | 'call'
  | 'camp'
  | 'dl'
  | 'dlv'
  | 'doc'
  | 'ers'
  | 'evt'
  | 'inv'
  | 'key'
  | 'req'
  | 'sms'
  | 'smsgw'
  | 'usr'
  | 'we';

/** Gives `size` bytes from a cryptographically secure source. */
export type RandomBytes = (size: number) => Uint8Array;

/** Makes the next id of a kind; the composition root builds it once with `idMaker`. */
export type NewId = (prefix: IdPrefix) => string;

/** In the order of their character codes, so that text order is the order of value. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 62^8 milliseconds last until the year 8888. */
const TIME_CHARS = 8;

/** 95 bits. */
const RANDOM_CHARS = 16;

/**
 * Makes an id: `<prefix>_`, then 8 characters of time and 16 of chance, all base62.
 *
 * Ids of a later millisecond sort after earlier ones, so that indexes grow at their end.
 */
export function newId(
  prefix: IdPrefix,
  { nowMs, random }: { readonly nowMs: number; readonly random: RandomBytes },
): string {
  return `${prefix}_${timeChars(nowMs)}${base62(RANDOM_CHARS, random)}`;
}

/** Binds `newId` to a source of time and chance. */
export function idMaker(options: {
  readonly nowMs: () => number;
  readonly random: RandomBytes;
}): NewId {
  return (prefix) => newId(prefix, { nowMs: options.nowMs(), random: options.random });
}

/** Makes `length` base62 characters, each as likely as any other. */
export function base62(length: number, random: RandomBytes): string {
  let text = '';
  while (text.length < length) text += fairChars(random(length - text.length));
  return text;
}

/** Bytes of 248 and more are left out: 248 is the greatest multiple of 62, and a remainder would favour some. */
function fairChars(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) if (byte < 248) text += BASE62.charAt(byte % 62);
  return text;
}

function timeChars(nowMs: number): string {
  let rest = Math.floor(nowMs);
  let text = '';
  for (let index = 0; index < TIME_CHARS; index++) {
    text = `${BASE62[rest % 62]}${text}`;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** A page of a list: at most `limit` records, after the first `offset`. */
export interface PageRange {
  readonly limit: number;
  readonly offset: number;
}

/** One page of a list, with the number of all that match. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Fields that may be left out, or undefined. */
export type Unset<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

/** Fields that are there have a value. */
type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that are not undefined. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<Fields>;
}

/** Two changes within a millisecond still have different times, so that customers see each. */
export function laterThan(before: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), before.getTime() + 1));
}

/** @param what the resource, such as `the agent`. */
export function emptyPatch(what: string): ServiceError {
  const message = 'expected at least one field';
  return new ServiceError('VALIDATION_ERROR', `Cannot change ${what}: the body is empty`, [
    { path: '', message },
  ]);
}
