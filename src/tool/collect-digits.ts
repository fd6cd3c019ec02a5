/** Tool `collect_digits`: the caller types a number on the keypad, which only tools get to see. */
import { COLLECTED_NAME, type CollectedDigits, hasCheckDigit } from './collected-digits.ts';
import type { Tool, ToolArguments, ToolOutcome } from './tool.ts';

/** Longest number that is collected. */
export const COLLECTED_DIGITS_MAX = 32;

/** Longest entry: the wait for the first key, and 32 keys with time to read each. */
const TIMEOUT_MS = 180_000;

/** @param collected receives the digits. */
export function createCollectDigits(collected: CollectedDigits): Tool {
  const count = { type: 'integer', minimum: 1, maximum: COLLECTED_DIGITS_MAX };
  return {
    isAfterWords: true,
    takesKeys: true,
    timeoutMs: TIMEOUT_MS,
    description: {
      name: 'collect_digits',
      description:
        'Lets the caller type a number on the telephone keypad that must stay secret: a payment card, an account, a PIN. ' +
        'In the same answer, ask the caller to type it and to press the hash key at the end. You are told whether it is complete, and never ' +
        'see it: write {{name}} where an argument of another tool needs it. Never ask the caller to say such a number.',
      parameters: {
        type: 'object',
        properties: {
          name: {
            type: 'string',
            description: 'What the digits are kept under, such as card_number.',
            maxLength: 32,
          },
          minDigits: { ...count, description: 'Fewest digits; 1 unless given.' },
          maxDigits: {
            ...count,
            description: `Most digits, after which no hash key is needed; ${COLLECTED_DIGITS_MAX} unless given.`,
          },
          isCard: {
            type: 'boolean',
            description:
              'True for the number of a payment card: 12 to 19 digits with a check digit.',
          },
        },
        required: ['name'],
        additionalProperties: false,
      },
    },
    refusal: (args) => refusalOf(args),
    run: async (args, context, signal) => {
      const limits = limitsOf(args);
      const digits = await context.collectDigits(limits.max, signal);
      const fault = faultOf(digits, limits);
      if (fault !== undefined) return notCollected(fault);
      const name = String(args.name);
      collected.keep(name, digits);
      return { text: collectedText(name, digits.length), isDone: true };
    },
  };
}

interface Limits {
  readonly min: number;
  readonly max: number;
  readonly hasCheckDigit: boolean;
}

/** Numbers of payment cards. @see ISO/IEC 7812-1 */
const CARD: Limits = { min: 12, max: 19, hasCheckDigit: true };

function limitsOf({ minDigits, maxDigits, isCard }: ToolArguments): Limits {
  const widest =
    isCard === true ? CARD : { min: 1, max: COLLECTED_DIGITS_MAX, hasCheckDigit: false };
  return {
    min: typeof minDigits === 'number' ? minDigits : widest.min,
    max: typeof maxDigits === 'number' ? maxDigits : widest.max,
    hasCheckDigit: widest.hasCheckDigit,
  };
}

function refusalOf(args: ToolArguments): string | undefined {
  const { min, max } = limitsOf(args);
  if (!COLLECTED_NAME.test(String(args.name)))
    return 'Not done: "name" must be lower-case letters, digits and _, such as card_number.';
  return min > max ? 'Not done: "minDigits" must not be more than "maxDigits".' : undefined;
}

/** What is wrong with an entry, for the model: how many digits there are, and none of them. */
function faultOf(
  digits: string,
  { min, max, hasCheckDigit: isChecked }: Limits,
): string | undefined {
  const { length } = digits;
  if (length === 0)
    return 'no key was pressed. The caller may have spoken instead, which was not heard';
  const expected = min === max ? `${min}` : `${min} to ${max}`;
  if (length < min) return `${length} digits were typed, and ${expected} are expected`;
  if (isChecked && !hasCheckDigit(digits)) return 'the check digit is wrong: a key was mistyped';
  return undefined;
}

function notCollected(fault: string): ToolOutcome {
  return {
    text: `Not collected: ${fault}. Tell the caller, and offer to try again.`,
    problem: fault,
  };
}

function collectedText(name: string, count: number): string {
  return `Collected ${count} digits as {{${name}}}. Go on with what they are for; do not repeat or ask for them.`;
}
