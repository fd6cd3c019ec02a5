/** Reads which dialog an INVITE replaces (Replaces); pure */
import type { Trunk } from '../../trunks/trunks.ts';

/** Longer values are refused unread. */
const CHARS_MAX = 512;

/** A dialog as its far end names it: the To tag is ours. */
export interface ReplacedDialog {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** Whether it may be replaced only while it is not answered. */
  readonly isEarlyOnly: boolean;
}

const CALL_ID = /^[A-Za-z0-9\-.!%*_+`'~()<>:\\"/[\]?{}@]+$/;
const TOKEN = /^[A-Za-z0-9\-.!%*_+`'~]+$/;

/**
 * Reads Replaces.
 *
 * @param header lines of several headers are joined with commas.
 * @returns undefined when it is malformed, or there are several.
 * @see RFC 3891 section 6.1
 */
export function readReplaces(header: string): ReplacedDialog | undefined {
  if (header.length > CHARS_MAX) return undefined;
  const [callId = '', ...params] = header.split(';').map((part) => part.trim());
  const fields = params.map((param) => param.split('=').map((part) => part.trim()));
  const areSound = fields.every(([name = '']) => TOKEN.test(name));
  const [localTag, remoteTag] = [tagOf(fields, 'to-tag'), tagOf(fields, 'from-tag')];
  if (!areSound || !CALL_ID.test(callId)) return undefined;
  if (localTag === undefined || remoteTag === undefined) return undefined;
  const isEarlyOnly = fields.some(([name = '']) => name.toLowerCase() === 'early-only');
  return { callId, localTag, remoteTag, isEarlyOnly };
}

/** Supported, towards a trunk that accepts transfers. RFC 3891, 4. */
export function extensionsOf(trunk: Trunk | undefined): Readonly<Record<string, string>> {
  return trunk?.acceptTransfers === true ? { Supported: 'replaces' } : {};
}

/** The tag of that name; undefined where it is not there exactly once, or is no token. */
function tagOf(fields: readonly (readonly string[])[], name: string): string | undefined {
  const [first, ...others] = fields.filter(([field = '']) => field.toLowerCase() === name);
  const [, tag = '', ...rest] = first ?? [];
  return others.length === 0 && rest.length === 0 && TOKEN.test(tag) ? tag : undefined;
}
