/** The contract of the store that keeps accounts and their signing secrets. */

import type { Scope } from '../agent/agent.ts';
import type { Account, Environment, SigningSecrets } from './account.ts';
import type { ApiKey } from './api-key.ts';

/** A new account with its secrets and first keys. */
export interface Founding {
  readonly account: Account;
  /** The key of webhook signatures, `whsec_…`, one an environment. */
  readonly signingSecrets: Readonly<Record<Environment, string>>;
  readonly apiKeys: readonly { readonly apiKey: ApiKey; readonly hash: string }[];
}

/** Keeps accounts and their signing secrets. */
export interface AccountStore {
  /** Saves the account, its secrets and its first keys: all or none. */
  found(founding: Founding): Promise<void>;

  find(accountId: string): Promise<Account | undefined>;

  /** In the order of their making. */
  list(): Promise<readonly Account[]>;

  /** Saves every field. */
  update(account: Account): Promise<void>;

  /** How many accounts there are. */
  count(): Promise<number>;

  /** The keys of webhook signatures as of `now`; undefined when there is no such account. */
  signingSecrets(
    accountId: string,
    environment: Environment,
    now: Date,
  ): Promise<SigningSecrets | undefined>;

  /** @throws {ServiceError} CONFLICT while one is prepared already. */
  prepareSigningSecret(scope: Scope, secret: string, now: Date): Promise<SigningSecrets>;

  /**
   * Makes the prepared secret the current one; the current one becomes the previous one.
   *
   * @throws {ServiceError} CONFLICT when none is prepared.
   */
  activateSigningSecret(scope: Scope, now: Date): Promise<SigningSecrets>;

  /** Ends the prepared or the previous secret at once; changes nothing when there is none. */
  dropSigningSecret(
    scope: Scope,
    which: 'prepared' | 'previous',
    now: Date,
  ): Promise<SigningSecrets>;
}
