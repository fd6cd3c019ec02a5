/** A name and an address, as From, To, Contact, Route and Refer-To carry them; pure */

import {
  endOfQuoted,
  isSpace,
  type Params,
  parseParams,
  skipSpace,
  TOKEN,
  unquote,
} from './grammar.ts';
import { SipError } from './status.ts';
import { uriScheme } from './uri.ts';

export interface NameAddr {
  /** Unquoted and decoded from UTF-8; empty without a display name. */
  readonly displayName: string;

  /** Any URI, as it was written; `parseUri` reads the ones that can be called. */
  readonly uri: string;

  /** The header's parameters, not the URI's. */
  readonly params: Params;
}

/**
 * Parses `"Name" <uri>;params`, `Name <uri>;params` or `uri;params`.
 *
 * Without angle brackets the URI ends at the first `;`, and may hold neither `,` nor `?`.
 *
 * @throws {SipError} 400 for any other text.
 * @see RFC 3261 section 20.10 and section 25.1, name-addr
 */
export function parseNameAddr(text: string): NameAddr {
  const start = skipSpace(text, 0);
  const open = openingBracket(text, start);
  if (open === -1) return parseAddrSpec(text, start);

  const close = text.indexOf('>', open);
  if (close === -1) throw new SipError(400, 'Bad Address');
  const uri = text.slice(open + 1, close);
  uriScheme(uri);
  return {
    displayName: decodeUtf8(parseDisplayName(text.slice(start, open))),
    uri,
    params: parseParams(text, close + 1),
  };
}

/** Index of the URI's opening bracket; -1 without one before the parameters. */
function openingBracket(text: string, start: number): number {
  if (text.charCodeAt(start) !== 0x22) {
    const bracket = text.indexOf('<', start);
    const semicolon = text.indexOf(';', start);
    return semicolon !== -1 && semicolon < bracket ? -1 : bracket;
  }
  const end = endOfQuoted(text, start);
  const bracket = end === -1 ? -1 : skipSpace(text, end);
  if (bracket === -1 || text.charCodeAt(bracket) !== 0x3c) throw new SipError(400, 'Bad Address');
  return bracket;
}

function parseAddrSpec(text: string, start: number): NameAddr {
  let end = start;
  while (end < text.length && !isSpace(text.charCodeAt(end)) && text.charAt(end) !== ';') end++;
  const uri = text.slice(start, end);
  if (uri.includes(',') || uri.includes('?')) throw new SipError(400, 'Bad Address');
  uriScheme(uri);
  return { displayName: '', uri, params: parseParams(text, end) };
}

/** Parses the display name before the bracket: a quoted string, or token words. */
function parseDisplayName(text: string): string {
  const name = text.trimEnd();
  if (name.charCodeAt(0) === 0x22) return unquote(name);
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (!isSpace(code) && !isNameCode(code)) throw new SipError(400, 'Bad Display Name');
  }
  return name;
}

/** Names in other alphabets are often sent without the quotes they need; nothing else looks like them. */
function isNameCode(code: number): boolean {
  return TOKEN[code] === 1 || code >= 0x80;
}

function decodeUtf8(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
