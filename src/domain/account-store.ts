/** The contract of the store that keeps accounts and their signing secrets. */
import type { Account, Environment } from './account.ts';
import type { ApiKey } from './api-key.ts';

/** An account with all that it needs to be usable. */
export interface Founding {
  readonly account: Account;
  /** The key of webhook signatures, `whsec_…`, one an environment. */
  readonly signingSecrets: Readonly<Record<Environment, string>>;
  readonly apiKeys: readonly { readonly apiKey: ApiKey; readonly hash: string }[];
}

/** Keeps accounts and their signing secrets. */
export interface AccountStore {
  /** Saves the account, its secrets and its first keys: all or none. */
  found(founding: Founding): void;

  find(accountId: string): Account | undefined;

  /** How many accounts there are. */
  count(): number;

  /** The key of webhook signatures; undefined when there is no such account. */
  signingSecret(accountId: string, environment: Environment): string | undefined;
}
