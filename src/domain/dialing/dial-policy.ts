/** The dial policy: which numbers may be called, for outbound calls and transfers alike; pure */

import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max';
import { phoneLibrary } from './phone-library.ts';
import { isPhoneNumber } from './phone-number.ts';

/** Rules that a number is checked against: allowed countries, calling number, own numbers. */
export interface DialRules {
  /**
   * ISO 3166 codes. Undefined means the country of `homeNumber`; `any` is for numbers that the operator has named one
   * by one.
   */
  readonly allowedCountries: readonly string[] | 'any' | undefined;
  /** The calling number, E.164, whose country is allowed by default; null for none. */
  readonly homeNumber: string | null;
  /** Whether a number rings here: a call to it would go round in a circle. */
  readonly isOwnNumber: (number: string) => boolean;
  /**
   * True in the sandbox, which dials no number: invented numbers of every country are allowed, but numbers that no live call
   * could reach are refused as for live calls.
   */
  readonly isSimulated?: boolean;
  /**
   * Whether a possible number may be called that no plan on record assigns: plans change faster than their metadata,
   * and a customer names numbers on purpose. Transfers, which callers ask for, go to assigned numbers only.
   */
  readonly mayBeUnassigned?: boolean;
}

/** The decision: the number in E.164, or the reason for the refusal, as text for customers. */
export type DialDecision =
  | { readonly isAllowed: true; readonly number: string }
  | { readonly isAllowed: false; readonly reason: string };

/** Longer texts are no numbers, and are not looked at. */
const CHARS_MAX = 64;

/** Kinds of number without a surcharge. */
const ALLOWED_TYPES: readonly (string | undefined)[] = [
  'FIXED_LINE',
  'MOBILE',
  'FIXED_LINE_OR_MOBILE',
  'VOIP',
  'TOLL_FREE',
];

/** Kinds that cost more. Personal numbers are not among them: the sandbox has its own there, as `+15005550006`. */
const REFUSED_TYPES: readonly (string | undefined)[] = [
  'PREMIUM_RATE',
  'SHARED_COST',
  'PAGER',
  'UAN',
  'VOICEMAIL',
];

/**
 * Satellite, international networks and universal services: dear, without a country, and loved by fraud.
 *
 * @see ITU-T E.164, list of assigned country codes
 */
const REFUSED_CALLING_CODES = ['870', '878', '881', '882', '883', '888', '979'];

/** Emergency numbers and service codes are not longer; telephone numbers so short exist on a few islands only. */
const SHORT_DIGITS_MAX = 6;

/** The greatest country of each calling code that several share. */
const MAIN_COUNTRIES: Readonly<Record<string, CountryCode>> = {
  '1': 'US',
  '7': 'RU',
  '39': 'IT',
  '44': 'GB',
  '47': 'NO',
  '61': 'AU',
  '212': 'MA',
  '262': 'RE',
  '290': 'SH',
  '358': 'FI',
  '590': 'GP',
  '599': 'CW',
};

/** Why a number that rings here is refused. */
export const RINGS_HERE = 'it rings here, which would be a loop';

/** Decides about a number as it was written; only E.164 can be allowed. */
export function decideDial(text: string, rules: DialRules): DialDecision {
  if (isShortNumber(text)) return refused('emergency and short numbers may not be called');
  const parsed = isPhoneNumber(text) ? phoneLibrary().parsePhoneNumberFromString(text) : undefined;
  if (parsed === undefined) {
    return refused('expected a possible number in E.164 form, such as +390612345678');
  }
  const reason = reasonAgainst(parsed, rules);
  return reason === undefined ? { isAllowed: true, number: parsed.number } : refused(reason);
}

/**
 * Whether the text is an emergency number or another short code, with or without a calling code before it, in
 * digits of any script and with any separators.
 */
export function isShortNumber(text: string): boolean {
  const digits = digitsOf(text);
  if (digits === undefined || digits === '') return false;
  if (!text.normalize('NFKC').includes('+')) return digits.length <= SHORT_DIGITS_MAX;
  const parsed = phoneLibrary().parsePhoneNumberFromString(`+${digits}`);
  if (parsed === undefined) return digits.length <= SHORT_DIGITS_MAX;
  const { countryCallingCode, nationalNumber } = parsed;
  // Area codes of that form are not given out: somebody has put a service code before a number.
  if (countryCallingCode === '1' && /^[2-9]11/.test(nationalNumber)) return true;
  return nationalNumber.length <= SHORT_DIGITS_MAX && !parsed.isValid();
}

function reasonAgainst(parsed: PhoneNumber, rules: DialRules): string | undefined {
  const type = parsed.getType();
  if (REFUSED_CALLING_CODES.includes(parsed.countryCallingCode)) {
    return 'numbers of that network may not be called';
  }
  if (REFUSED_TYPES.includes(type)) return 'numbers of that kind may not be called';
  if (parsed.number === rules.homeNumber || rules.isOwnNumber(parsed.number)) {
    return RINGS_HERE;
  }
  if (rules.isSimulated === true) return undefined;
  const isUnassigned = !parsed.isValid();
  if (isUnassigned && rules.mayBeUnassigned !== true) {
    return 'its number is not one that anybody can have';
  }
  if (!isUnassigned && !ALLOWED_TYPES.includes(type))
    return 'numbers of that kind may not be called';
  return isCountryAllowed(parsed, rules) ? undefined : 'its country may not be called';
}

function isCountryAllowed(parsed: PhoneNumber, rules: DialRules): boolean {
  const { allowedCountries, homeNumber } = rules;
  if (allowedCountries === 'any') return true;
  if (allowedCountries !== undefined) return isOneOf(parsed, allowedCountries);
  const home =
    homeNumber === null ? undefined : phoneLibrary().parsePhoneNumberFromString(homeNumber);
  if (home === undefined) return false;
  if (home.country !== undefined) return isOneOf(parsed, [home.country]);
  const main = MAIN_COUNTRIES[home.countryCallingCode];
  if (main !== undefined) return isOneOf(parsed, [main]);
  return parsed.countryCallingCode === home.countryCallingCode;
}

/** Compares countries; calling codes where the number does not determine its country. */
function isOneOf(
  { country, countryCallingCode }: PhoneNumber,
  allowed: readonly string[],
): boolean {
  if (country !== undefined) return allowed.includes(country);
  return allowed.some(
    (code) =>
      phoneLibrary().isSupportedCountry(code) &&
      phoneLibrary().getCountryCallingCode(code) === countryCallingCode,
  );
}

/** The digits of a text that holds digits and separators only; else undefined. */
function digitsOf(text: string): string | undefined {
  if (text.length > CHARS_MAX) return undefined;
  const plain = text
    .normalize('NFKC')
    .replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)))
    .replace(/^\s*(?:tel|sip):/i, '')
    .replace(/[\s+().\-/\p{Cf}]/gu, '');
  return /^\d*$/.test(plain) ? plain : undefined;
}

/** Decimal digits of every script lie in tens that begin with their zero. @see Unicode Standard section 4.6 */
function digitValue(digit: string): number {
  let code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - 1))) {
    code -= 1;
    value += 1;
  }
  return value;
}

function refused(reason: string): DialDecision {
  return { isAllowed: false, reason };
}
