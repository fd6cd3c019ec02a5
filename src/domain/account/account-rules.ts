/** Rules of accounts, and the contract of the store that keeps accounts and their signing secrets. */

import type { Scope } from '../agent/agent.ts';
import { checkTransferTarget } from '../agent/agent-rules.ts';
import { phoneLibrary } from '../dialing/phone-library.ts';
import { emptyPatch, given, type Unset } from '../ids.ts';
import type { Account, CallRetention, Environment, SigningSecrets } from './account.ts';
import type { ApiKey } from './api-key.ts';

/** Limits of the fields of an account: lengths in characters, counts, days. */
export const ACCOUNT_LIMITS = {
  nameCharsMax: 120,
  transferTargetsMax: 100,
  allowedCountriesMax: 250,
  /** A hundred years. */
  retentionDays: { min: 1, max: 36_500 },
} as const;

/** A change: only the fields that are there; retention is merged field by field. */
interface AccountPatch
  extends Unset<Pick<Account, 'name' | 'transferTargets' | 'allowedCountries' | 'callingHours'>> {
  readonly retention?: Unset<CallRetention> | undefined;
}

/**
 * Changes the fields that the patch has.
 *
 * @throws {ServiceError} VALIDATION_ERROR when the patch is empty, UNPROCESSABLE when a telephone number is impossible.
 */
export function patchAccount(account: Account, patch: AccountPatch): Account {
  const { name, transferTargets, allowedCountries, callingHours } = patch;
  const retention = given(patch.retention ?? {});
  const fields = [name, transferTargets, allowedCountries, callingHours];
  const changes = [...fields, ...Object.values(retention)];
  if (changes.every((change) => change === undefined)) throw emptyPatch('the account');
  for (const [index, { number }] of (transferTargets ?? []).entries()) {
    checkTransferTarget(number, `transferTargets.${index}.number`);
  }
  return {
    ...account,
    name: name ?? account.name,
    transferTargets: transferTargets ?? account.transferTargets,
    allowedCountries: allowedCountries === undefined ? account.allowedCountries : allowedCountries,
    callingHours: callingHours === undefined ? account.callingHours : callingHours,
    retention: { ...account.retention, ...retention },
  };
}

/** ISO 3166 alpha-2 codes of the countries with telephone numbers. */
export const COUNTRY_CODES: readonly string[] = phoneLibrary().getCountries();

/** Whether the text is an ISO 3166 alpha-2 code, in capitals, of a country with telephone numbers. */
export function isCountryCode(text: string): boolean {
  return phoneLibrary().isSupportedCountry(text);
}

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
