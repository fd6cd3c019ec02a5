/** Tool `transfer_call` and its policy: the allow-list that prompt injection cannot widen. */

import type { CountryCode } from 'libphonenumber-js/max';
import type { TransferTarget } from '../domain/agent/agent.ts';
import { TRANSFER_MODES, type TransferMode } from '../domain/agent/transfer-rules.ts';
import { type DialDecision, decideDial } from '../domain/dialing/dial-policy.ts';
import { phoneLibrary } from '../domain/dialing/phone-library.ts';
import type { Tool, ToolOutcome } from './tool.ts';

/** The third party's telephone rings for up to 30 s; the agent may then brief the third party, and ask whether it accepts. */
const TRANSFER_TIMEOUT_MS = 75_000;

/** A REFER cannot be cancelled: the carrier rings for as long as it likes. */
const LATE_TEXT =
  'No answer yet; it still rings there. The caller is connected as soon as somebody answers; you will be told if the call fails. ' +
  'Tell the caller so, and do not call again meanwhile.';

const SUMMARY_CHARS_MAX = 500;

/** Makes the tool for one call. The model sees labels, never numbers. */
export function createTransferCall(rules: TransferRules): Tool {
  const labels = transferLabels(rules);
  // When the system prompt has transfer numbers too, the labels are not the complete list.
  const hasPromptNumbers = transferNumbersInPrompt(rules.systemPrompt).length > 0;
  const isClosedList = labels.length > 0 && !hasPromptNumbers;
  return {
    isAfterWords: true,
    needsSureWords: true,
    timeoutMs: TRANSFER_TIMEOUT_MS,
    lateText: LATE_TEXT,
    description: {
      name: 'transfer_call',
      description:
        'Hands the caller over to another party. Tell the caller so in the same answer. ' +
        `Destinations: ${labels.length === 0 ? 'only what your instructions name' : labels.join(', ')}.`,
      parameters: {
        type: 'object',
        properties: {
          destination: {
            type: 'string',
            description: 'A destination as it is written above.',
            maxLength: 120,
            ...(isClosedList ? { enum: labels } : {}),
          },
          summary: {
            type: 'string',
            description: 'What the caller wants, in a sentence, for the person who picks up.',
            maxLength: SUMMARY_CHARS_MAX,
          },
          mode: {
            type: 'string',
            enum: [...TRANSFER_MODES],
            description:
              'warm: the person who picks up hears the summary alone first. three-way: likewise, and then all three of you talk. ' +
              'cold, unless given: at once.',
          },
        },
        required: ['destination'],
        additionalProperties: false,
      },
    },
    refusal: (args) => {
      const decision = decideTransfer(String(args.destination), rules);
      if (decision.isAllowed) return undefined;
      return `The transfer was not made: ${decision.reason}. Tell the caller that it is not possible.`;
    },
    run: async (args, context) => {
      const decision = decideTransfer(String(args.destination), rules);
      // The toolbox has refused it already.
      if (!decision.isAllowed) throw new Error(decision.reason);
      const mode = TRANSFER_MODES.find((known) => known === args.mode) ?? 'cold';
      await context.transfer(decision.number, String(args.summary ?? ''), mode);
      return outcomeOf(mode);
    },
  };
}

/** Result of a transfer that was made. */
export function outcomeOf(mode: TransferMode): ToolOutcome {
  if (mode === 'three-way') return { text: 'The other party was called.', next: 'three-way' };
  return { text: 'The caller has been transferred.', next: 'transferred' };
}

/** Transfer rules, as configured. Nothing in them comes from a caller or a model. */
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

type TransferDecision = DialDecision;

/** Labels that the model may choose from. */
export function transferLabels(rules: TransferRules): string[] {
  return [...new Set(rules.targets.map(({ label }) => label.trim()))];
}

/**
 * Decides about a destination as the model named it: a label, or a number that the system prompt names as a target.
 * Everything that is not allowed by name is denied.
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
  const parsed = phoneLibrary().parsePhoneNumberFromString(destination, {
    ...options,
    extract: false,
  });
  return transferNumbersInPrompt(rules.systemPrompt).find((number) => number === parsed?.number);
}

function countryOf(number: string | null): CountryCode | undefined {
  return number === null ? undefined : phoneLibrary().parsePhoneNumberFromString(number)?.country;
}

function fold(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

/** Stems of "transfer", "forward" and "put through" in English, French, Spanish, Italian and German. */
const TRANSFER_WORD = /transf[eé]r|trasfer|forward|put through|weiterleit|durchstell|verbind/i;

const MARKDOWN_HEADING = /^\s*#{1,6}\s/;

/** A line that introduces the lines below it, such as `Transfers:`. */
const LABEL_LINE = /:\s*$/;

const SENTENCE_END = /(?<=[.!?])\s+/;

/**
 * Finds the numbers that may be called: in international form (`+39 06 1234 5678`), in a transfer section or in a sentence with
 * a transfer word. A section goes from a Markdown heading with such a word to the next heading, or from a line with such a
 * word and a colon at its end to the next empty line. Every other number in the prompt is only a text: an order
 * number or an opening hour is no transfer target.
 *
 * @returns E.164, in the order of the prompt.
 */
export function transferNumbersInPrompt(systemPrompt: string): string[] {
  const text = transferParts(systemPrompt).join('\n');
  return phoneLibrary()
    .findPhoneNumbersInText(text)
    .map(({ number }) => number.number);
}

type Section = 'none' | 'label' | 'heading';

function transferParts(prompt: string): string[] {
  let section: Section = 'none';
  return prompt.split('\n').flatMap((line) => {
    section = sectionAfter(line, section);
    if (section !== 'none') return [line];
    return line.split(SENTENCE_END).filter((sentence) => TRANSFER_WORD.test(sentence));
  });
}

/** The section that a line belongs to, given the section of the line before. */
function sectionAfter(line: string, before: Section): Section {
  const hasWord = TRANSFER_WORD.test(line);
  if (MARKDOWN_HEADING.test(line)) return hasWord ? 'heading' : 'none';
  if (before === 'heading') return 'heading';
  if (LABEL_LINE.test(line)) return hasWord ? 'label' : 'none';
  return line.trim() === '' ? 'none' : before;
}
