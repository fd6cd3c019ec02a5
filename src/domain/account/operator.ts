/** Users of the dashboard: password rules, lifetimes of sessions and keys, and login back-off; pure */
import type { ApiKey } from './api-key.ts';
import type { User } from './user.ts';

/** Shortest password, in characters. */
export const PASSWORD_CHARS_MIN = 12;

/** Limits the work of normalising and hashing. */
export const PASSWORD_CHARS_MAX = 200;

/**
 * The form of a password that is hashed: the same letters typed on another keyboard give the same password.
 *
 * @see NIST SP 800-63B, 5.1.1.2: NFKC or NFKD
 */
export function normalPassword(password: string): string {
  return password.normalize('NFKC');
}

/** Lifetime of the setup link; the operator opens it from the terminal at once. */
export const SETUP_LINK_LIFE_MS = 1_800_000;

/** Longest session, from signing in. */
export const SESSION_LIFE_MS = 43_200_000;

/** Counted from the last request that showed the cookie. A page that is open asks for a new key before that. */
export const SESSION_IDLE_MS = 7_200_000;

/** One more takes the place of the user's session that was used longest ago; of any, where the user has none. */
export const SESSIONS_MAX = 100;

/** How long a key lives that the dashboard asks the API with. */
export const OPERATOR_KEY_LIFE_MS = 900_000;

/** One more takes the place of the session's oldest: a page asks for one, for each account and environment it shows. */
export const KEYS_A_SESSION_MAX = 20;

/** The first instant at which a session is over. */
export function sessionEndsAtMs(session: {
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
}): number {
  return Math.min(session.createdAtMs + SESSION_LIFE_MS, session.lastUsedAtMs + SESSION_IDLE_MS);
}

/** Wrong tries of one client address that cost no wait. */
export const FREE_TRIES_OF_CLIENT = 5;

/** Wrong tries of all addresses together that cost no wait. */
export const FREE_TRIES_OF_ALL = 50;

const FIRST_WAIT_MS = 1000;

const LONGEST_WAIT_MS = 900_000;

/**
 * One wrong try is forgiven after each such time without another. Equal to the longest wait, so that constant guessing
 * never gets more than one try in that time.
 */
const FORGIVEN_AFTER_MS = LONGEST_WAIT_MS;

/** Count of wrong tries, as of the last one. */
export interface WrongTries {
  readonly count: number;
  readonly lastAtMs: number;
}

/** When the next try may come: 1 s after the last free one, then twice as long each time, up to 15 minutes. */
export function nextTryAtMs(tries: WrongTries, freeTries: number): number {
  if (tries.count < freeTries) return Number.NEGATIVE_INFINITY;
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (tries.count - freeTries), LONGEST_WAIT_MS);
  return tries.lastAtMs + waitMs;
}

/** The tries that still count, and one more. */
export function withWrongTry(tries: WrongTries | undefined, nowMs: number): WrongTries {
  if (tries === undefined) return { count: 1, lastAtMs: nowMs };
  const forgiven = Math.floor((nowMs - tries.lastAtMs) / FORGIVEN_AFTER_MS);
  return { count: Math.max(0, tries.count - forgiven) + 1, lastAtMs: nowMs };
}

/** A key of the dashboard, and the user of its session as they are now. */
export interface OperatorKey {
  readonly apiKey: ApiKey;
  readonly user: User;
}

/** Keys of the dashboard, in memory only; they end with the user's session. */
export interface OperatorKeys {
  /** @param hash as `hashOfKey` makes it. @returns undefined when there is no such key, or it has died. */
  findByHash(hash: string): Promise<OperatorKey | undefined>;

  isAlive(apiKeyId: string): Promise<boolean>;
}
