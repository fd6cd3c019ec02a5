/** Who is signed in to the dashboard: sessions in memory, known by the hash of what the browser's cookie holds. */

import { SESSIONS_MAX, sessionEndsAtMs } from '../domain/account/operator.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { hashOfText, newSecretText } from './secret-text.ts';

/** One browser that is signed in. */
export interface OperatorSession {
  /** SHA-256 of its cookie. */
  readonly hash: string;
  /** Shown by the page with everything that changes something; no other page can read it. */
  readonly csrfToken: string;
}

interface Entry extends OperatorSession {
  readonly createdAtMs: number;
  lastUsedAtMs: number;
  /** The password that it was opened with, as its record: the session ends when that is no longer the password. */
  passwordRecord: string;
}

export class OperatorSessions {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  readonly #passwordRecord: () => Promise<string | undefined>;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();

  /** @param options.passwordRecord tells the record of the password as it is now. */
  constructor(options: {
    readonly clock: Clock;
    readonly random: RandomBytes;
    readonly passwordRecord: () => Promise<string | undefined>;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#passwordRecord = options.passwordRecord;
  }

  /** Opens a session for somebody who has shown the password of that record. @returns it, and its cookie's value. */
  async open(
    passwordRecord: string,
  ): Promise<{ readonly session: OperatorSession; readonly cookie: string }> {
    for (const { hash } of [...this.#entries.values()])
      if (!(await this.isAlive(hash))) this.end(hash);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= SESSIONS_MAX && oldest !== undefined) this.end(oldest);
    const cookie = newSecretText(this.#random);
    const nowMs = this.#clock.nowMs();
    const session: Entry = {
      hash: hashOfText(cookie),
      csrfToken: newSecretText(this.#random),
      createdAtMs: nowMs,
      lastUsedAtMs: nowMs,
      passwordRecord,
    };
    this.#entries.set(session.hash, session);
    return { session, cookie };
  }

  /** The session of a cookie's value, used just now; undefined when there is none, or it is over. */
  async use(cookie: string): Promise<OperatorSession | undefined> {
    const hash = hashOfText(cookie);
    const entry = this.#entries.get(hash);
    if (entry === undefined) return undefined;
    const isGood = await this.#isGood(entry);
    // It may have ended while the password was read.
    if (this.#entries.get(hash) !== entry) return undefined;
    this.#entries.delete(hash);
    if (!isGood) return undefined;
    entry.lastUsedAtMs = this.#clock.nowMs();
    this.#entries.set(hash, entry);
    return entry;
  }

  /** Whether a session is there still; asking is not using. */
  async isAlive(hash: string): Promise<boolean> {
    const entry = this.#entries.get(hash);
    return entry !== undefined && (await this.#isGood(entry));
  }

  /** Safe to call twice. */
  end(hash: string): void {
    this.#entries.delete(hash);
  }

  /** Goes on with a new password; all other sessions end by themselves, because theirs is no longer it. */
  moveTo(hash: string, passwordRecord: string): void {
    const entry = this.#entries.get(hash);
    if (entry !== undefined) entry.passwordRecord = passwordRecord;
  }

  async #isGood(entry: Entry): Promise<boolean> {
    const isInTime = this.#clock.nowMs() < sessionEndsAtMs(entry);
    return isInTime && entry.passwordRecord === (await this.#passwordRecord());
  }
}
