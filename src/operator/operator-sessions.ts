/** Sessions of the dashboard in memory, with their short-lived API keys and the tickets of browser calls. */

import type { Environment } from '../domain/account/account.ts';
import {
  API_SCOPES,
  type ApiKey,
  describeKey,
  hashOfKey,
  newKeyText,
} from '../domain/account/api-key.ts';
import {
  KEYS_A_SESSION_MAX,
  OPERATOR_KEY_LIFE_MS,
  type OperatorKey,
  type OperatorKeys,
  SESSIONS_MAX,
  type StoredUser,
  sessionEndsAtMs,
  type User,
} from '../domain/account/user.ts';
import { type BrowserCaller, PHONE_TICKET_LIFE_MS } from '../domain/call/live-sound.ts';
import type { NewId, RandomBytes } from '../domain/ids.ts';
import { BoundedMap } from '../lib/bounded-map.ts';
import type { Clock } from '../lib/clock.ts';
import { hashOfText, newSecretText } from '../lib/secrets.ts';

/** One browser that is signed in. */
export interface OperatorSession {
  /** SHA-256 of its cookie. */
  readonly hash: string;
  /** Sent by the page with every request that changes data; pages of other origins cannot read it. */
  readonly csrfToken: string;
  /** The user's record as it is now. */
  readonly user: StoredUser;
}

interface SessionEntry extends Omit<OperatorSession, 'user'> {
  readonly createdAtMs: number;
  lastUsedAtMs: number;
  readonly userId: string;
  /** The user's stamp at signing in: the session ends when the user has another. */
  stamp: number;
}

type FindUser = (userId: string) => Promise<StoredUser | undefined>;

/** Sessions in memory; a restart ends all. */
export class OperatorSessions {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  readonly #findUser: FindUser;
  /** In the order of their last use. */
  readonly #entries = new Map<string, SessionEntry>();

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
    const entry: SessionEntry = {
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

  /** Ends the user's own oldest session, or the oldest of all when the user has none. */
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

  /** Keeps the session after the user has changed their own password; the new stamp ends all others of the user. */
  moveTo(hash: string, { stamp }: Pick<StoredUser, 'stamp'>): void {
    const entry = this.#entries.get(hash);
    if (entry !== undefined) entry.stamp = stamp;
  }

  async #userOf(entry: SessionEntry): Promise<StoredUser | undefined> {
    if (this.#clock.nowMs() >= sessionEndsAtMs(entry)) return undefined;
    const user = await this.#findUser(entry.userId);
    const isGood = user?.stamp === entry.stamp && user.disabledAt === null;
    return isGood ? user : undefined;
  }
}

function sessionOf({ hash, csrfToken }: SessionEntry, user: StoredUser): OperatorSession {
  return { hash, csrfToken, user };
}

interface KeyEntry {
  readonly apiKey: ApiKey;
  readonly hash: string;
  readonly sessionHash: string;
  readonly endsAtMs: number;
}

interface SessionKeysOptions {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly newId: NewId;
  /** The user of a session as they are now; undefined when it is over. */
  readonly userOf: (sessionHash: string) => Promise<User | undefined>;
}

/** API keys of sessions: short-lived, never stored. */
export class SessionKeys implements OperatorKeys {
  readonly #options: SessionKeysOptions;
  /** Keys by hash, oldest first. */
  readonly #byHash = new Map<string, KeyEntry>();
  readonly #byId = new Map<string, KeyEntry>();

  constructor(options: SessionKeysOptions) {
    this.#options = options;
  }

  /** Makes a key with the permissions of the user's role. @returns its text, shown this once, and its expiry. */
  make(
    sessionHash: string,
    scope: { readonly accountId: string; readonly environment: Environment },
  ): { readonly keyText: string; readonly expiresAt: Date } {
    const { clock, random, newId } = this.#options;
    this.#tidy(sessionHash);
    const keyText = newKeyText(scope.environment, random);
    const now = clock.now();
    const facts = { id: newId('key'), name: 'Dashboard', scopes: API_SCOPES, createdAt: now };
    const entry: KeyEntry = {
      apiKey: describeKey(keyText, { ...scope, ...facts }),
      hash: hashOfKey(keyText),
      sessionHash,
      endsAtMs: clock.nowMs() + OPERATOR_KEY_LIFE_MS,
    };
    this.#byHash.set(entry.hash, entry);
    this.#byId.set(entry.apiKey.id, entry);
    return { keyText, expiresAt: new Date(now.getTime() + OPERATOR_KEY_LIFE_MS) };
  }

  async findByHash(hash: string): Promise<OperatorKey | undefined> {
    const entry = this.#byHash.get(hash);
    const user = entry && (await this.#userOf(entry));
    return entry === undefined || user === undefined ? undefined : { apiKey: entry.apiKey, user };
  }

  async isAlive(apiKeyId: string): Promise<boolean> {
    const entry = this.#byId.get(apiKeyId);
    return entry !== undefined && (await this.#userOf(entry)) !== undefined;
  }

  async #userOf({ endsAtMs, sessionHash }: KeyEntry): Promise<User | undefined> {
    const { clock, userOf } = this.#options;
    return clock.nowMs() < endsAtMs ? userOf(sessionHash) : undefined;
  }

  /** Forgets expired keys, and makes room for one more key of the session. */
  #tidy(sessionHash: string): void {
    const nowMs = this.#options.clock.nowMs();
    for (const entry of [...this.#byHash.values()]) {
      if (entry.endsAtMs <= nowMs) this.#forget(entry);
    }
    const own = [...this.#byHash.values()].filter((entry) => entry.sessionHash === sessionHash);
    const [oldest] = own;
    if (own.length >= KEYS_A_SESSION_MAX && oldest !== undefined) this.#forget(oldest);
  }

  #forget({ hash, apiKey }: KeyEntry): void {
    this.#byHash.delete(hash);
    this.#byId.delete(apiKey.id);
  }
}

/** More tickets than an operator needs in a minute; beyond that the oldest expires. */
const TICKETS_MAX = 100;

/** Caller and session of a ticket. */
export interface PhoneTicket extends BrowserCaller {
  /** Session of the operator that requested it. */
  readonly sessionHash: string;
}

/** One-time tickets for calls from the browser. */
export class PhoneTickets {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  /** Tickets by hash, oldest first. */
  readonly #entries = new BoundedMap<string, PhoneTicket & { readonly endsAtMs: number }>(
    TICKETS_MAX,
  );

  constructor(options: { readonly clock: Clock; readonly random: RandomBytes }) {
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** @returns the ticket's text, shown this once, and until when it is good. */
  issue(ticket: PhoneTicket): { readonly text: string; readonly expiresAt: Date } {
    const text = newSecretText(this.#random);
    const endsAtMs = this.#clock.nowMs() + PHONE_TICKET_LIFE_MS;
    this.#entries.set(hashOfText(text), { ...ticket, endsAtMs });
    return { text, expiresAt: new Date(this.#clock.now().getTime() + PHONE_TICKET_LIFE_MS) };
  }

  /** Uses the ticket up. @returns undefined when there is none, or no longer. */
  take(text: string): PhoneTicket | undefined {
    const hash = hashOfText(text);
    const entry = this.#entries.get(hash);
    this.#entries.delete(hash);
    return entry !== undefined && this.#clock.nowMs() < entry.endsAtMs ? entry : undefined;
  }
}
