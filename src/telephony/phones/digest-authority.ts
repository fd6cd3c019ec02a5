/** The server's side of digest authentication: challenges, and the check of what answers them. RFC 3261, 22; RFC 7616. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';

/** A phone that registers every few minutes begins with a new nonce each time. */
const NONCE_MS_MAX = 300_000;

/** Nonces in use; each stands for a password that was right. */
const NONCES_MAX = 10_000;

const REALM = 'offhook';

/** The credentials of a request, and what the check needs to know of it. */
export interface Credentials {
  readonly username: string;
  readonly nonce: string;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Result of a check. `stale`: the password is right, and the nonce is too old or was used. `foreign`: the nonce was not made
 * here for the source, which may be forged then; the password was not looked at.
 */
export type DigestVerdict = 'right' | 'wrong' | 'stale' | 'foreign';

/** Makes nonces and checks responses. A nonce is good for one source, five minutes, and each nonce count once. */
export class DigestAuthority {
  readonly #clock: Clock;
  readonly #key = randomBytes(32);
  /** Highest nonce count by nonce, oldest first. */
  readonly #used = new Map<string, { readonly count: number; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Value of WWW-Authenticate. */
  challenge(options: {
    readonly sourceAddress: string;
    readonly algorithm: 'MD5' | 'SHA-256';
    readonly isStale: boolean;
  }): string {
    const stamp = `${Math.trunc(this.#clock.nowMs()).toString(36)}.${randomBytes(9).toString('hex')}`;
    const nonce = `${stamp}.${this.#macOf(stamp, options.sourceAddress)}`;
    const stale = options.isStale ? ', stale=true' : '';
    return `Digest realm="${REALM}", nonce="${nonce}", algorithm=${options.algorithm}, qop="auth"${stale}`;
  }

  /** Checks credentials. A right response uses its nonce count up. */
  check(
    { username, nonce, params }: Credentials,
    facts: {
      readonly method: string;
      readonly sourceAddress: string;
      readonly password: string;
      readonly algorithm: 'MD5' | 'SHA-256';
    },
  ): DigestVerdict {
    const { algorithm, method, password } = facts;
    const { uri = '', nc = '', cnonce = '', qop, response = '' } = params;
    if (!this.#isOurs(nonce, facts.sourceAddress)) return 'foreign';
    const isComplete = qop === 'auth' && /^[0-9a-f]{8}$/i.test(nc) && cnonce !== '';
    const named = (params.algorithm ?? 'MD5').toUpperCase();
    if (!isComplete || named !== algorithm) return 'wrong';
    const hash = (text: string) =>
      createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
        .update(text)
        .digest('hex');
    const [one, two] = [hash(`${username}:${REALM}:${password}`), hash(`${method}:${uri}`)];
    const due = hash(`${one}:${nonce}:${nc}:${cnonce}:auth:${two}`);
    if (!isEqual(due, response.toLowerCase())) return 'wrong';
    return this.#spend(nonce, Number.parseInt(nc, 16)) ? 'right' : 'stale';
  }

  #isOurs(nonce: string, sourceAddress: string): boolean {
    const [time = '', random = '', mac = ''] = nonce.split('.');
    return isEqual(mac, this.#macOf(`${time}.${random}`, sourceAddress));
  }

  #spend(nonce: string, count: number): boolean {
    const nowMs = this.#clock.nowMs();
    const untilMs = Number.parseInt(nonce, 36) + NONCE_MS_MAX;
    if (untilMs <= nowMs) return false;
    for (const [old, use] of this.#used) {
      if (use.untilMs > nowMs && this.#used.size < NONCES_MAX) break;
      if (use.untilMs <= nowMs) this.#used.delete(old);
      else return false;
    }
    if (count <= (this.#used.get(nonce)?.count ?? 0)) return false;
    this.#used.set(nonce, { count, untilMs });
    return true;
  }

  #macOf(stamp: string, sourceAddress: string): string {
    return createHmac('sha256', this.#key).update(`${stamp} ${sourceAddress}`).digest('hex');
  }
}

/** Each name is tried at its first letter alone: a long one without a value would be read once for each letter. */
const PARAM = /(?<![a-z-])([a-z-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s,"]+))/gi;

/**
 * Reads the credentials for our realm.
 *
 * @param header value of Authorization; several lines are joined by commas.
 * @returns undefined without them.
 */
export function credentialsFrom(header: string): Credentials | undefined {
  for (const part of header.split(/(?:^|,)\s*Digest\s+/i).slice(1)) {
    const params: Record<string, string> = Object.create(null);
    for (const [, name = '', quoted, plain] of part.matchAll(PARAM)) {
      params[name.toLowerCase()] ??= quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '';
    }
    const { realm, username, nonce } = params;
    if (realm === REALM && username !== undefined && nonce !== undefined) {
      return { username, nonce, params };
    }
  }
  return undefined;
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
