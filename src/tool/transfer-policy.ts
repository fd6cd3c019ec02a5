/** Decides where a call may be handed over to: only where the operator said so; pure */
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { TransferTarget } from '../domain/agent/agent.ts';
import { type DialDecision, decideDial } from '../domain/dialing/dial-policy.ts';
import { transferNumbersInPrompt } from './prompt-numbers.ts';

/** What the operator laid down. Nothing in it comes from a caller or a model. */
export interface TransferRules {
  /** The agent's list and the account's list together. */
  readonly targets: readonly TransferTarget[];
  /** The numbers that it names as transfer targets may be called as well: see `transferNumbersInPrompt`. */
  readonly systemPrompt: string;
  /** The number that the agent is reached by, E.164; null when it has none. */
  readonly agentNumber: string | null;
  /** Every number that rings here, E.164: a transfer to one of them would go round in a circle. */
  readonly ownNumbers: readonly string[];
  /**
   * ISO 3166 codes; without them the country of `agentNumber`. Where that is null too, targets of the list may be in
   * any country, since the operator named each of them as a number to call; numbers in the prompt may not be called.
   */
  readonly allowedCountries?: readonly string[];
}

export type TransferDecision = DialDecision;

/** What the model may choose from. */
export function transferLabels(rules: TransferRules): string[] {
  return [...new Set(rules.targets.map(({ label }) => label.trim()))];
}

/**
 * Decides about a destination as the model named it: a label, or a number that the system prompt names as a target.
 * Whatever is not allowed by name is denied.
 */
export function decideTransfer(destination: string, rules: TransferRules): TransferDecision {
  const { agentNumber, allowedCountries, ownNumbers } = rules;
  const onList = targetOf(destination, rules);
  const number = onList ?? numberInPrompt(destination, rules);
  if (number === undefined) {
    return { isAllowed: false, reason: 'it is not on the list of transfer targets' };
  }
  const hasNoHome = allowedCountries === undefined && agentNumber === null;
  return decideDial(number, {
    allowedCountries: hasNoHome && onList !== undefined ? 'any' : allowedCountries,
    homeNumber: agentNumber,
    isOwnNumber: (own) => ownNumbers.includes(own),
  });
}

function targetOf(destination: string, rules: TransferRules): string | undefined {
  const wanted = fold(destination);
  return rules.targets.find(({ label }) => fold(label) === wanted)?.number;
}

function numberInPrompt(destination: string, rules: TransferRules): string | undefined {
  const country = countryOf(rules.agentNumber);
  const options = country === undefined ? {} : { defaultCountry: country };
  const parsed = parsePhoneNumberFromString(destination, { ...options, extract: false });
  return transferNumbersInPrompt(rules.systemPrompt).find((number) => number === parsed?.number);
}

function countryOf(number: string | null): CountryCode | undefined {
  return number === null ? undefined : parsePhoneNumberFromString(number)?.country;
}

function fold(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}
