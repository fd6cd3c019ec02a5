/** Who is signed in to the dashboard: sessions in memory, known by the hash of what the browser's cookie holds. */

import { SESSIONS_MAX, sessionEndsAtMs } from '../domain/account/operator.ts';
import type { StoredUser } from '../domain/account/user.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { hashOfText, newSecretText } from './secret-text.ts';

/** One browser that is signed in. */
export interface OperatorSession {
  /** SHA-256 of its cookie. */
  readonly hash: string;
  /** Shown by the page with everything that changes something; no other page can read it. */
  readonly csrfToken: string;
  /** As they are now. */
  readonly user: StoredUser;
}

interface Entry extends Omit<OperatorSession, 'user'> {
  readonly createdAtMs: number;
  lastUsedAtMs: number;
  readonly userId: string;
  /** The user's stamp at signing in: the session ends when the user has another. */
  stamp: number;
}

type FindUser = (userId: string) => Promise<StoredUser | undefined>;

export class OperatorSessions {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  readonly #findUser: FindUser;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();

  /** @param options.findUser tells the user as they are now. */
  constructor(options: {
    readonly clock: Clock;
    readonly random: RandomBytes;
    readonly findUser: FindUser;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#findUser = options.findUser;
  }

  /** Opens a session for a user who has shown their password. @returns it, and its cookie's value. */
  async open(
    user: StoredUser,
  ): Promise<{ readonly session: OperatorSession; readonly cookie: string }> {
    for (const { hash } of [...this.#entries.values()])
      if (!(await this.isAlive(hash))) this.end(hash);
    if (this.#entries.size >= SESSIONS_MAX) this.#makeRoomFor(user);
    const cookie = newSecretText(this.#random);
    const nowMs = this.#clock.nowMs();
    const entry: Entry = {
      hash: hashOfText(cookie),
      csrfToken: newSecretText(this.#random),
      createdAtMs: nowMs,
      lastUsedAtMs: nowMs,
      userId: user.id,
      stamp: user.stamp,
    };
    this.#entries.set(entry.hash, entry);
    return { session: sessionOf(entry, user), cookie };
  }

  /** A user who signs in again and again ends their own sessions, and those of others only where they have none. */
  #makeRoomFor({ id }: StoredUser): void {
    const entries = [...this.#entries.values()];
    const oldest = entries.find(({ userId }) => userId === id) ?? entries[0];
    if (oldest !== undefined) this.end(oldest.hash);
  }

  /** The session of a cookie's value, used just now; undefined when there is none, or it is over. */
  async use(cookie: string): Promise<OperatorSession | undefined> {
    const hash = hashOfText(cookie);
    const entry = this.#entries.get(hash);
    if (entry === undefined) return undefined;
    const user = await this.#userOf(entry);
    // It may have ended while the user was read.
    if (this.#entries.get(hash) !== entry) return undefined;
    this.#entries.delete(hash);
    if (user === undefined) return undefined;
    entry.lastUsedAtMs = this.#clock.nowMs();
    this.#entries.set(hash, entry);
    return sessionOf(entry, user);
  }

  /** Whether a session is there still; asking is not using. */
  async isAlive(hash: string): Promise<boolean> {
    return (await this.userOf(hash)) !== undefined;
  }

  /** The user of a session as they are now; undefined when it is over. Asking is not using. */
  async userOf(hash: string): Promise<StoredUser | undefined> {
    const entry = this.#entries.get(hash);
    return entry === undefined ? undefined : this.#userOf(entry);
  }

  /** Safe to call twice. */
  end(hash: string): void {
    this.#entries.delete(hash);
  }

  /** Goes on after the user has changed their own password; all other sessions of the user have ended by their stamp. */
  moveTo(hash: string, { stamp }: Pick<StoredUser, 'stamp'>): void {
    const entry = this.#entries.get(hash);
    if (entry !== undefined) entry.stamp = stamp;
  }

  async #userOf(entry: Entry): Promise<StoredUser | undefined> {
    if (this.#clock.nowMs() >= sessionEndsAtMs(entry)) return undefined;
    const user = await this.#findUser(entry.userId);
    const isGood = user?.stamp === entry.stamp && user.disabledAt === null;
    return isGood ? user : undefined;
  }
}

function sessionOf({ hash, csrfToken }: Entry, user: StoredUser): OperatorSession {
  return { hash, csrfToken, user };
}
