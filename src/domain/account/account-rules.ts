/** Rules of accounts: limits and changes; pure */

import { checkTransferTarget } from '../agent/agent-rules.ts';
import { phoneLibrary } from '../dialing/phone-library.ts';
import { emptyPatch, given, type Unset } from '../ids.ts';
import type { Account, CallRetention } from './account.ts';

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
