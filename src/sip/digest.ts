/** Client side of digest authentication: answers challenges of carriers, also on behalf of an application. */
import { createHash, randomBytes } from 'node:crypto';
import { QUOTED, quote, TOKEN, unquote } from './message/grammar.ts';
import type { SipMessage } from './message/message.ts';
import { ifSound } from './message/status.ts';
import { parseMessage } from './parser/parser.ts';

/** User name and password. */
export interface DigestCredentials {
  readonly username: string;
  readonly password: string;
}

interface DigestOptions {
  /** Credentials of a realm; undefined to leave its challenge unanswered. */
  readonly credentialsFor: (realm: string) => DigestCredentials | undefined;

  /** Makes client nonces; random ones when not given. */
  readonly makeCnonce?: () => string;
}

/** One realm's newest challenge, and how often it has been answered. */
interface Session {
  readonly challenge: DigestChallenge;
  readonly credentials: DigestCredentials;
  readonly headerName: 'authorization' | 'proxy-authorization';

  /** One for all answers: the `-sess` algorithms bind the first to them all. */
  readonly cnonce: string;
  readonly staleCount: number;
  useCount: number;
}

/** More realms than the proxies and the server of one call have. */
const REALMS_MAX = 4;

/** Limits the retries with a server that calls fresh nonces stale. */
const STALE_MAX = 2;

/**
 * Answers challenges, and reuses the newest nonces, so that later requests are accepted at once.
 *
 * Use one instance per dialog or registration: `accept` responses, `authorize` requests.
 *
 * @see RFC 7616, RFC 8760, RFC 3261 section 22
 */
export class DigestClient {
  readonly #credentialsFor: DigestOptions['credentialsFor'];
  readonly #makeCnonce: () => string;
  readonly #sessions = new Map<string, Session>();

  constructor(options: DigestOptions) {
    this.#credentialsFor = options.credentialsFor;
    this.#makeCnonce = options.makeCnonce ?? (() => randomBytes(12).toString('hex'));
  }

  /**
   * Takes in a 401 or 407, and the request that it refused.
   *
   * @returns whether the request is to be tried again: the challenge can be answered, and is not
   * the refusal of a password already given to it.
   */
  accept(response: SipMessage, refused: SipMessage): boolean {
    const isProxy = response.status === 407;
    const lines = response.all(isProxy ? 'proxy-authenticate' : 'www-authenticate');
    const challenge = strongestChallenge(lines);
    if (challenge === undefined) return false;
    const credentials = this.#credentialsFor(challenge.realm);
    if (credentials === undefined) return false;

    const headerName = isProxy ? 'proxy-authorization' : 'authorization';
    const key = `${headerName} ${challenge.realm}`;
    const before = this.#sessions.get(key);
    if (before === undefined && this.#sessions.size >= REALMS_MAX) return false;
    const staleCount = staleCountAfter(challenge, before, refused);
    if (staleCount === undefined) return false;
    const cnonce = this.#makeCnonce();
    this.#sessions.set(key, {
      challenge,
      credentials,
      headerName,
      cnonce,
      staleCount,
      useCount: 0,
    });
    return true;
  }

  /** Puts an answer to every realm's newest challenge on a request, in place of older ones. */
  authorize(request: SipMessage): void {
    if (this.#sessions.size === 0) return;
    request.delete('authorization').delete('proxy-authorization');
    for (const session of this.#sessions.values()) {
      session.useCount++;
      request.add(session.headerName, credentialsLine(session, request));
    }
  }
}

/**
 * How many challenges in a row called a fresh nonce stale; undefined when the password was refused.
 *
 * A nonce that has served before may have expired without the server saying so.
 */
function staleCountAfter(
  challenge: DigestChallenge,
  before: Session | undefined,
  refused: SipMessage,
): number | undefined {
  const isFirstRefusal =
    before === undefined || usesOf(before, refused) !== 1 || before.useCount === 0;
  if (isFirstRefusal) return 0;
  const staleCount = before.staleCount + 1;
  return challenge.isStale && staleCount <= STALE_MAX ? staleCount : undefined;
}

/** The nonce count with which a request answered the session's challenge; 0 when it did not. */
function usesOf(session: Session, request: SipMessage): number {
  for (const line of request.all(session.headerName)) {
    const fields = parseAuthFields(line);
    const isOurs = fields.get('nonce') === session.challenge.nonce;
    if (isOurs) return Number.parseInt(fields.get('nc') ?? '1', 16);
  }
  return 0;
}

/** The value of Authorization. @see RFC 7616 section 3.4 */
function credentialsLine(session: Session, request: SipMessage): string {
  const { challenge, cnonce } = session;
  const { algorithm, opaque, qop } = challenge;
  const nonceCount = session.useCount.toString(16).padStart(8, '0');
  const fields = [
    `username=${quote(octets(session.credentials.username))}`,
    `realm=${quote(challenge.realm)}`,
    `nonce=${quote(challenge.nonce)}`,
    `uri=${quote(request.uri)}`,
    `response="${digestResponse(session, request, nonceCount)}"`,
  ];
  if (algorithm !== undefined) fields.push(`algorithm=${algorithm}`);
  if (opaque !== undefined) fields.push(`opaque=${quote(opaque)}`);
  if (qop !== undefined) fields.push(`qop=${qop}`, `nc=${nonceCount}`);
  if (qop !== undefined || challenge.isSession) fields.push(`cnonce=${quote(cnonce)}`);
  return `Digest ${fields.join(', ')}`;
}

/** @see RFC 7616 sections 3.4.1 to 3.4.3 */
function digestResponse(session: Session, request: SipMessage, nonceCount: string): string {
  const { challenge, cnonce, credentials } = session;
  const { hash, nonce, qop, realm } = challenge;
  const digest = (text: string | Buffer) =>
    createHash(hash)
      .update(typeof text === 'string' ? Buffer.from(text, 'latin1') : text)
      .digest('hex');

  const user = digest(`${octets(credentials.username)}:${realm}:${octets(credentials.password)}`);
  const a1 = challenge.isSession ? digest(`${user}:${nonce}:${cnonce}`) : user;
  const bodyPart = qop === 'auth-int' ? `:${digest(request.body)}` : '';
  const a2 = digest(`${request.method}:${request.uri}${bodyPart}`);
  if (qop === undefined) return digest(`${a1}:${nonce}:${a2}`);
  return digest(`${a1}:${nonce}:${nonceCount}:${cnonce}:${qop}:${a2}`);
}

/** Text as the octets of its UTF-8, one character each, as messages hold it. */
function octets(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** How many fields of a challenge are looked at: the longest in use have eight. */
const FIELDS_MAX = 32;

/** Algorithms that can be answered, the strongest first. RFC 8760, section 2.1. */
const ALGORITHMS = [
  { name: 'sha-512-256', hash: 'sha512-256' },
  { name: 'sha-256', hash: 'sha256' },
  { name: 'md5', hash: 'md5' },
] as const;

/** Challenges of digest authentication, and which of several to answer */
interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;

  /** Name as written by the challenger, for the answer; undefined without one (MD5 then). */
  readonly algorithm: string | undefined;

  /** Name of the hash in `node:crypto`. */
  readonly hash: 'sha512-256' | 'sha256' | 'md5';

  /** Whether the hash of the password is bound to the nonces (`-sess`). */
  readonly isSession: boolean;

  /** Undefined for servers of RFC 2069's time, which know no quality of protection. */
  readonly qop: 'auth' | 'auth-int' | undefined;

  /** True when only the nonce was too old: the password was right. */
  readonly isStale: boolean;
}

/**
 * Strongest supported challenge of all WWW-Authenticate or Proxy-Authenticate lines.
 *
 * @returns undefined without one.
 * @see RFC 8760 section 2.4
 */
export function strongestChallenge(lines: readonly string[]): DigestChallenge | undefined {
  const challenges = lines.map(parseChallenge).filter((challenge) => challenge !== undefined);
  const rank = ({ hash }: DigestChallenge) => ALGORITHMS.findIndex((each) => each.hash === hash);
  return challenges.sort((a, b) => rank(a) - rank(b))[0];
}

/** Reads one challenge; undefined when it is none that can be answered. */
function parseChallenge(line: string): DigestChallenge | undefined {
  const [scheme = ''] = line.split(/[ \t]/, 1);
  if (scheme.toLowerCase() !== 'digest') return undefined;
  const fields = parseAuthFields(line);

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

/** `name=value`; unquoted values run to the next comma or space: some servers leave quotes out of nonces. */
const FIELD = new RegExp(
  `[ \\t,]*([${TOKEN}]+)[ \\t]*=[ \\t]*(${QUOTED}|[^", \\t][^, \\t]*|(?!"))`,
  'y',
);

/**
 * Parses `Digest name=value, name="value"`, as in challenges, credentials and Authentication-Info. Values are unquoted;
 * of a repeated name the first counts; parsing stops at the first error.
 */
export function parseAuthFields(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  FIELD.lastIndex = 'Digest'.length;
  for (let field = FIELD.exec(text); field !== null; field = FIELD.exec(text)) {
    const [, name = '', value = ''] = field;
    if (!fields.has(name.toLowerCase())) fields.set(name.toLowerCase(), unquote(value));
    if (fields.size === FIELDS_MAX) break;
  }
  return fields;
}

/** Quality of protection to use; undefined if none was offered, null if no offered one is supported. */
function chooseQop(offer: string | undefined): 'auth' | 'auth-int' | undefined | null {
  if (offer === undefined) return undefined;
  const offered = offer.split(',').map((word) => word.trim().toLowerCase());
  if (offered.includes('auth')) return 'auth';
  return offered.includes('auth-int') ? 'auth-int' : null;
}

/**
 * Makes the header that answers a 401 or 407.
 *
 * @param refused the whole request as sent.
 * @param response the whole challenge.
 * @returns undefined for an unreadable challenge, and without a password.
 */
export function answerChallenge(
  credentialsFor: CredentialsFor,
  refused: string,
  response: string,
): { readonly name: string; readonly value: string } | undefined {
  // An unreadable challenge cannot be answered: the caller sees the refusal itself.
  return ifSound(() => {
    const request = parseMessage(Buffer.from(refused, 'utf8'));
    const { uri } = request;
    const from = request.get('from') ?? '';
    const digest = new DigestClient({
      credentialsFor: (realm) => credentialsFor(realm, uri, from),
    });
    if (!digest.accept(parseMessage(Buffer.from(response, 'utf8')), request)) return undefined;
    digest.authorize(request);
    const name =
      request.get('authorization') !== undefined ? 'authorization' : 'proxy-authorization';
    return { name, value: request.get(name) ?? '' };
  });
}

/**
 * Credentials for a challenge.
 *
 * @param realm of the challenge.
 * @param requestUri of the refused request.
 * @param from of the refused request; distinguishes several accounts at one carrier.
 * @returns undefined to pass the challenge on to the application.
 */
export type CredentialsFor = (
  realm: string,
  requestUri: string,
  from: string | undefined,
) => DigestCredentials | undefined;
