/** Server's side of digest authentication: challenges, the check of answers, and the back-off of sources that guess passwords. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { Clock } from '../../lib/clock.ts';
import { isSameSecret } from '../../lib/secrets.ts';

/** A phone that registers every few minutes begins with a new nonce each time. */
const NONCE_MS_MAX = 300_000;

/** Nonces in use; each stands for a password that was right. */
const NONCES_MAX = 10_000;

const REALM = 'offhook';

/** The credentials of a request, and the fields that the check needs. */
interface Credentials {
  readonly username: string;
  readonly nonce: string;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Result of a check. `stale`: the password is right, and the nonce is too old or was used. `foreign`: the nonce was not made
 * here for the source, which may be forged then; the password was not looked at.
 */
type DigestVerdict = 'right' | 'wrong' | 'stale' | 'foreign';

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
    if (!isSameSecret(due, response.toLowerCase())) return 'wrong';
    return this.#spend(nonce, Number.parseInt(nc, 16)) ? 'right' : 'stale';
  }

  #isOurs(nonce: string, sourceAddress: string): boolean {
    const [time = '', random = '', mac = ''] = nonce.split('.');
    return isSameSecret(mac, this.#macOf(`${time}.${random}`, sourceAddress));
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

/** Each name is matched from its first letter only: a long name without a value would cost one pass per letter. */
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

/** Wrong tries without a wait: a mistyped password on a telephone that tries again by itself. */
const FREE_TRIES = 5;

/** Wrong tries after which a source that does not keep its wait gets no answer. */
const SILENT_FROM_TRIES = 8;

const FIRST_WAIT_MS = 2_000;
const WAIT_MS_MAX = 900_000;

/**
 * A right password makes the wrong ones before it forgotten, at most once in this time: else each registration of a telephone
 * would allow its address new guesses.
 */
const FORGIVE_MS_MIN = 600_000;

/** Challenges, and refusals in a wait, in ten seconds: a forged source must not have us flood its owner. */
const ANSWERS_MAX = 40;
const ANSWERS_MS = 10_000;

/** Sources that are kept; the one that changed longest ago is forgotten first. */
const SOURCES_MAX = 1000;

interface Tries {
  readonly count: number;
  /** No try before. */
  readonly nextAtMs: number;
  /** When a right password forgot wrong ones. */
  readonly forgivenAtMs: number;
}

const NO_TRIES: Tries = { count: 0, nextAtMs: 0, forgivenAtMs: Number.NEGATIVE_INFINITY };

/** Counts wrong passwords by source address. */
export class SourceBackOff {
  readonly #clock: Clock;
  readonly #tries = new BoundedMap<string, Tries>(SOURCES_MAX);
  #answers = new Map<string, number>();
  #answersFromMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long a source has to wait until its next try, in milliseconds; 0 when it may try now. */
  waitMs(sourceAddress: string): number {
    return Math.max(0, this.#triesOf(sourceAddress).nextAtMs - this.#clock.nowMs());
  }

  /** Whether a source gets no answer at all for now. */
  isSilenced(sourceAddress: string): boolean {
    const { count } = this.#triesOf(sourceAddress);
    const isGuessing = count >= SILENT_FROM_TRIES && this.waitMs(sourceAddress) > 0;
    return isGuessing || this.#answersOf(sourceAddress) >= ANSWERS_MAX;
  }

  /** Counts a challenge, or a refusal in a wait. */
  answered(sourceAddress: string): void {
    const count = this.#answersOf(sourceAddress);
    if (count > 0 || this.#answers.size < SOURCES_MAX) {
      this.#answers.set(sourceAddress, count + 1);
    }
  }

  /** Counts a wrong password. */
  failed(sourceAddress: string): void {
    const { forgivenAtMs, ...tries } = this.#triesOf(sourceAddress);
    const count = tries.count + 1;
    const waitMs =
      count <= FREE_TRIES
        ? 0
        : Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** (count - FREE_TRIES - 1));
    const nextAtMs = this.#clock.nowMs() + waitMs;
    this.#tries.set(sourceAddress, { count, nextAtMs, forgivenAtMs });
  }

  /** Forgets the wrong passwords of a source that knew one, once in ten minutes. */
  succeeded(sourceAddress: string): void {
    const { count, forgivenAtMs } = this.#triesOf(sourceAddress);
    const nowMs = this.#clock.nowMs();
    if (count === 0 || nowMs - forgivenAtMs < FORGIVE_MS_MIN) return;
    this.#tries.set(sourceAddress, { ...NO_TRIES, forgivenAtMs: nowMs });
  }

  #triesOf(sourceAddress: string): Tries {
    return this.#tries.get(sourceAddress) ?? NO_TRIES;
  }

  #answersOf(sourceAddress: string): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#answersFromMs >= ANSWERS_MS) {
      this.#answers = new Map();
      this.#answersFromMs = nowMs;
    }
    return this.#answers.get(sourceAddress) ?? 0;
  }
}
