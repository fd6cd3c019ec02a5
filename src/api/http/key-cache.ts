/** Finds the account of an API key; caches it for half a second. */
import { type ApiKey, hashOfKey } from '../../domain/account/api-key.ts';
import type { User } from '../../domain/account/user.ts';
import type { ApiDeps, Caller } from '../api-env.ts';
import { quotaOf } from './rate-limit.ts';

/** A key that another process revokes, as the admin command does, must stop within a second. */
const FRESH_MS = 500;

const KEYS_MAX = 1000;

/** `lastUsedAt` is known to the minute, so that using a key doesn't write at every request. */
const TOUCH_MS = 60_000;

interface Remembered {
  readonly caller: Caller;
  readonly readAtMs: number;
}

type KeyDeps = Pick<ApiDeps, 'accounts' | 'apiKeys' | 'clock' | 'operatorKeys'>;

/** Caches keys by their hash; unknown keys are never cached. */
export class KeyCache {
  readonly #deps: KeyDeps;
  readonly #cached = new Map<string, Remembered>();

  constructor(deps: KeyDeps) {
    this.#deps = deps;
  }

  /** Undefined when the key is unknown or revoked. */
  async callerOf(keyText: string): Promise<Caller | undefined> {
    const nowMs = this.#deps.clock.nowMs();
    const hash = hashOfKey(keyText);
    const cached = this.#cached.get(hash);
    if (cached !== undefined && nowMs - cached.readAtMs < FRESH_MS) {
      return cached.caller;
    }
    this.#cached.delete(hash);
    const ofDashboard = await this.#deps.operatorKeys?.findByHash(hash);
    // Not cached: it is in memory already, and is revoked at once.
    if (ofDashboard !== undefined) return this.#callerWith(ofDashboard.apiKey, ofDashboard.user);
    const caller = await this.#read(hash);
    if (caller !== undefined) this.#remember(hash, { caller, readAtMs: nowMs });
    return caller;
  }

  /** Drops a revoked key, so that its next use reads the store. */
  forget(apiKeyId: string): void {
    for (const [hash, { caller }] of this.#cached) {
      if (caller.apiKey.id === apiKeyId) this.#cached.delete(hash);
    }
  }

  async #read(hash: string): Promise<Caller | undefined> {
    const apiKey = await this.#deps.apiKeys.findByHash(hash);
    if (apiKey === undefined || apiKey.revokedAt !== null) return undefined;
    const caller = await this.#callerWith(apiKey, undefined);
    if (caller === undefined) return undefined;
    const now = this.#deps.clock.now();
    const lastUsedAtMs = apiKey.lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (now.getTime() - lastUsedAtMs >= TOUCH_MS) await this.#deps.apiKeys.touch(apiKey.id, now);
    return caller;
  }

  async #callerWith(apiKey: ApiKey, user: User | undefined): Promise<Caller | undefined> {
    const account = await this.#deps.accounts.find(apiKey.accountId);
    if (account === undefined) return undefined;
    const quota = quotaOf(apiKey, account.plan, user);
    return { apiKey, account, isDashboard: user !== undefined, user, quota };
  }

  /** Evicts the oldest entry of a full cache. */
  #remember(hash: string, entry: Remembered): void {
    const [oldest] = this.#cached.keys();
    if (this.#cached.size >= KEYS_MAX && oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(hash, entry);
  }
}

/** Whether a key that was good when a long answer began still is: neither revoked nor, as one of the dashboard, dead. */
export async function isKeyAlive(
  { id, accountId }: Pick<ApiKey, 'id' | 'accountId'>,
  { apiKeys, operatorKeys }: Pick<ApiDeps, 'apiKeys' | 'operatorKeys'>,
): Promise<boolean> {
  return (
    (await operatorKeys?.isAlive(id)) === true ||
    (await apiKeys.find(accountId, id))?.revokedAt === null
  );
}
