/** The keys that the dashboard asks the API with: in memory only, dead as soon as their session is. */
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
} from '../domain/account/operator.ts';
import type { User } from '../domain/account/user.ts';
import type { NewId, RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';

interface Entry {
  readonly apiKey: ApiKey;
  readonly hash: string;
  readonly sessionHash: string;
  readonly endsAtMs: number;
}

export interface SessionKeysOptions {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly newId: NewId;
  /** The user of a session as they are now; undefined when it is over. */
  readonly userOf: (sessionHash: string) => Promise<User | undefined>;
}

export class SessionKeys implements OperatorKeys {
  readonly #options: SessionKeysOptions;
  /** By the key's hash, oldest first. */
  readonly #byHash = new Map<string, Entry>();
  readonly #byId = new Map<string, Entry>();

  constructor(options: SessionKeysOptions) {
    this.#options = options;
  }

  /** Makes a key that may do what the user's role may. @returns its text, shown this once, and when it dies. */
  make(
    sessionHash: string,
    scope: { readonly accountId: string; readonly environment: Environment },
  ): { readonly keyText: string; readonly expiresAt: Date } {
    const { clock, random, newId } = this.#options;
    this.#tidy(sessionHash);
    const keyText = newKeyText(scope.environment, random);
    const now = clock.now();
    const facts = { id: newId('key'), name: 'Dashboard', scopes: API_SCOPES, createdAt: now };
    const entry: Entry = {
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

  async #userOf({ endsAtMs, sessionHash }: Entry): Promise<User | undefined> {
    const { clock, userOf } = this.#options;
    return clock.nowMs() < endsAtMs ? userOf(sessionHash) : undefined;
  }

  /** Forgets what is too old, and makes room for one more of the session. */
  #tidy(sessionHash: string): void {
    const nowMs = this.#options.clock.nowMs();
    for (const entry of [...this.#byHash.values()]) {
      if (entry.endsAtMs <= nowMs) this.#forget(entry);
    }
    const own = [...this.#byHash.values()].filter((entry) => entry.sessionHash === sessionHash);
    const [oldest] = own;
    if (own.length >= KEYS_A_SESSION_MAX && oldest !== undefined) this.#forget(oldest);
  }

  #forget({ hash, apiKey }: Entry): void {
    this.#byHash.delete(hash);
    this.#byId.delete(apiKey.id);
  }
}
