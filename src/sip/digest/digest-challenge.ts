/** Challenges of digest authentication, and which of several to answer; pure */
import { endOfQuoted, endOfRun, skipSpace, TOKEN } from '../message/char-class.ts';
import { unquote } from '../message/params.ts';

/** How many fields of a challenge are looked at: the longest in use have eight. */
const FIELDS_MAX = 32;

/** Algorithms that can be answered, the strongest first. RFC 8760, section 2.1. */
const ALGORITHMS = [
  { name: 'sha-512-256', hash: 'sha512-256' },
  { name: 'sha-256', hash: 'sha256' },
  { name: 'md5', hash: 'md5' },
] as const;

export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;

  /** As the challenger wrote it, to be sent back so; undefined where it named none (MD5 then). */
  readonly algorithm: string | undefined;

  /** What `node:crypto` calls the hash. */
  readonly hash: 'sha512-256' | 'sha256' | 'md5';

  /** Whether the hash of the password is bound to the nonces (`-sess`). */
  readonly isSession: boolean;

  /** Undefined for servers of RFC 2069's time, which know no quality of protection. */
  readonly qop: 'auth' | 'auth-int' | undefined;

  /** True when only the nonce was too old: the password was right. */
  readonly isStale: boolean;
}

/**
 * The strongest challenge that can be answered, of all WWW-Authenticate or Proxy-Authenticate lines.
 *
 * @returns undefined when there is none.
 * @see RFC 8760 section 2.4
 */
export function strongestChallenge(lines: readonly string[]): DigestChallenge | undefined {
  const challenges = lines.map(parseChallenge).filter((challenge) => challenge !== undefined);
  const rank = ({ hash }: DigestChallenge) => ALGORITHMS.findIndex((each) => each.hash === hash);
  return challenges.sort((a, b) => rank(a) - rank(b))[0];
}

/** Reads one challenge; undefined when it is none that can be answered. */
function parseChallenge(line: string): DigestChallenge | undefined {
  const schemeEnd = endOfRun(line, TOKEN, 0);
  if (line.slice(0, schemeEnd).toLowerCase() !== 'digest') return undefined;
  const fields = parseAuthFields(line, schemeEnd);

  const [realm, nonce] = [fields.get('realm'), fields.get('nonce')];
  const algorithm = fields.get('algorithm');
  const name = (algorithm ?? 'md5').toLowerCase();
  const isSession = name.endsWith('-sess');
  const hash = ALGORITHMS.find((each) => each.name === name.replace('-sess', ''))?.hash;
  const qop = chooseQop(fields.get('qop'));
  if (realm === undefined || !nonce || hash === undefined || qop === null) return undefined;
  const isStale = fields.get('stale')?.toLowerCase() === 'true';
  const opaque = fields.get('opaque');
  return { realm, nonce, opaque, algorithm, hash, isSession, qop, isStale };
}

/**
 * Reads `name=value, name="value"` from `start` on, as challenges, credentials and
 * Authentication-Info have them; values without their quotes, of a name that comes twice the first.
 * What cannot be read ends the reading.
 */
export function parseAuthFields(text: string, start: number): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let i = start; i < text.length && fields.size < FIELDS_MAX; ) {
    const nameStart = skipSeparators(text, i);
    const nameEnd = endOfRun(text, TOKEN, nameStart);
    const equals = skipSpace(text, nameEnd);
    if (nameEnd === nameStart || text.charCodeAt(equals) !== 0x3d) return fields;
    const valueStart = skipSpace(text, equals + 1);
    const valueEnd = endOfAuthValue(text, valueStart);
    if (valueEnd === -1) return fields;
    const name = text.slice(nameStart, nameEnd).toLowerCase();
    if (!fields.has(name)) fields.set(name, unquote(text.slice(valueStart, valueEnd)));
    i = valueEnd;
  }
  return fields;
}

/** The protection to use; undefined where none was offered, null where none of those offered is known. */
function chooseQop(offer: string | undefined): 'auth' | 'auth-int' | undefined | null {
  if (offer === undefined) return undefined;
  const offered = offer.split(',').map((word) => word.trim().toLowerCase());
  if (offered.includes('auth')) return 'auth';
  return offered.includes('auth-int') ? 'auth-int' : null;
}

function skipSeparators(text: string, start: number): number {
  let i = skipSpace(text, start);
  while (text.charCodeAt(i) === 0x2c) i = skipSpace(text, i + 1);
  return i;
}

/** Unquoted values run to the next comma or space: some servers leave quotes out of nonces. */
function endOfAuthValue(text: string, start: number): number {
  if (text.charCodeAt(start) === 0x22) return endOfQuoted(text, start);
  let i = start;
  while (i < text.length && !', \t'.includes(text.charAt(i))) i++;
  return i;
}
