/** Decides where a call may be handed over to: only where the operator said so; pure */
import {
  type CountryCode,
  findPhoneNumbersInText,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import type { TransferTarget } from '../domain/agent.ts';

/** What the operator laid down. Nothing in it comes from a caller or a model. */
export interface TransferRules {
  /** The agent's list and the account's list together. */
  readonly targets: readonly TransferTarget[];
  /** Numbers written in it may be called as well. */
  readonly systemPrompt: string;
  /** The number that the agent is reached by, E.164; null when it has none. */
  readonly agentNumber: string | null;
  /** Every number that rings here, E.164: a transfer to one of them would go round in a circle. */
  readonly ownNumbers: readonly string[];
  /** ISO 3166 codes; without them the country of `agentNumber`, and where that is null any country. */
  readonly allowedCountries?: readonly string[];
}

export type TransferDecision =
  | { readonly isAllowed: true; readonly number: string }
  | { readonly isAllowed: false; readonly reason: string };

/** Kinds of number that cost what a call costs; premium, shared-cost, pager and personal numbers are not here. */
const ALLOWED_TYPES: readonly (string | undefined)[] = [
  'FIXED_LINE',
  'MOBILE',
  'FIXED_LINE_OR_MOBILE',
  'VOIP',
  'TOLL_FREE',
];

/**
 * Satellite, international networks and universal services: dear, without a country, and loved by fraud.
 *
 * @see ITU-T E.164, list of assigned country codes
 */
const REFUSED_CALLING_CODES: readonly string[] = ['870', '878', '881', '882', '883', '888', '979'];

/** What the model may choose from. */
export function transferLabels(rules: TransferRules): string[] {
  return [...new Set(rules.targets.map(({ label }) => label.trim()))];
}

/** Numbers that the operator wrote into the system prompt, E.164. */
export function numbersInPrompt(rules: TransferRules): string[] {
  const country = countryOf(rules.agentNumber);
  const found = findPhoneNumbersInText(
    rules.systemPrompt,
    country === undefined ? {} : { defaultCountry: country },
  );
  return found.map(({ number }) => number.number);
}

/**
 * Decides about a destination as the model named it: a label, or a number that stands in the system prompt.
 * Whatever is not allowed by name is denied.
 */
export function decideTransfer(destination: string, rules: TransferRules): TransferDecision {
  const number = resolve(destination, rules);
  if (number === undefined) return denied('it is not on the list of transfer targets');

  const parsed = parsePhoneNumberFromString(number, { extract: false });
  if (parsed === undefined || !parsed.isValid()) return denied('its number is not a valid one');
  return judge(parsed, rules);
}

function judge(parsed: PhoneNumber, rules: TransferRules): TransferDecision {
  if (REFUSED_CALLING_CODES.includes(parsed.countryCallingCode)) {
    return denied('numbers of that network may not be called');
  }
  if (!ALLOWED_TYPES.includes(parsed.getType())) {
    return denied('numbers of that kind may not be called');
  }
  if (rules.ownNumbers.includes(parsed.number) || parsed.number === rules.agentNumber) {
    return denied('it would lead back here');
  }
  const countries = allowedCountries(rules);
  if (countries !== undefined && !countries.includes(parsed.country ?? '')) {
    return denied('its country may not be called');
  }
  return { isAllowed: true, number: parsed.number };
}

function resolve(destination: string, rules: TransferRules): string | undefined {
  const wanted = fold(destination);
  const target = rules.targets.find(({ label }) => fold(label) === wanted);
  if (target !== undefined) return target.number;

  const country = countryOf(rules.agentNumber);
  const options = country === undefined ? {} : { defaultCountry: country };
  const parsed = parsePhoneNumberFromString(destination, { ...options, extract: false });
  return numbersInPrompt(rules).find((number) => number === parsed?.number);
}

function allowedCountries(rules: TransferRules): readonly string[] | undefined {
  if (rules.allowedCountries !== undefined) return rules.allowedCountries;
  const country = countryOf(rules.agentNumber);
  return country === undefined ? undefined : [country];
}

function countryOf(number: string | null): CountryCode | undefined {
  return number === null ? undefined : parsePhoneNumberFromString(number)?.country;
}

function fold(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

function denied(reason: string): TransferDecision {
  return { isAllowed: false, reason };
}
