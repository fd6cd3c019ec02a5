/** The tools of the telephone keypad: `collect_digits`, whose digits the model never sees, and `send_digits`. */
import type { Tool, ToolArguments, ToolOutcome } from './tool.ts';

/** Longest number that is collected. */
const COLLECTED_DIGITS_MAX = 32;

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

/** Fault of an entry, for the model: how many digits there are, and none of them. */
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

/** Names that digits are kept under. */
const COLLECTED_NAME = /^[a-z][a-z0-9_]{0,31}$/;

/** Stands for digits where their values may be used. */
const PLACE = /\{\{\s*([a-z][a-z0-9_]{0,31})\s*\}\}/g;

/** Fewer digits are no secret, and stand in any answer. */
const HIDDEN_DIGITS_MIN = 3;

/** Digits collected in one call. */
export class CollectedDigits {
  readonly #values = new Map<string, string>();
  readonly #hidden = new Set<string>();

  /** Keeps digits under a name; earlier ones of that name are forgotten, though still hidden. */
  keep(name: string, digits: string): void {
    this.#values.set(name, digits);
    if (digits.length >= HIDDEN_DIGITS_MIN) this.#hidden.add(digits);
  }

  /** Replaces `{{name}}` by digits in all texts of a JSON value; an unknown name stays as it is. */
  fill(value: unknown): unknown {
    if (this.#values.size === 0) return value;
    if (typeof value === 'string') {
      return value.replace(PLACE, (place, name: string) => this.#values.get(name) ?? place);
    }
    if (Array.isArray(value)) return value.map((one) => this.fill(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.fill(one)]));
  }

  /** Hides the digits in a text, also with blanks or dashes between them: a service may repeat its request. */
  hide(text: string): string {
    return [...this.#hidden].reduce(
      (shown, digits) => shown.replace(patternOf(digits), '[digits]'),
      text,
    );
  }
}

function patternOf(digits: string): RegExp {
  return new RegExp(`(?<!\\d)${[...digits].join('[\\s-]*')}(?!\\d)`, 'g');
}

/** Whether the last digit is the check digit of the others, as on payment cards. @see ISO/IEC 7812-1, annex B */
export function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits.length > 1 && sum % 10 === 0;
}

/** Longest sequence: 5 s of keys, or 16 s of pauses. */
const DIGITS_MAX = 32;

const KEYS = /^[0-9*#A-DwW]+$/;

/** `send_digits`: presses keys (DTMF) for the agent. */
export const sendDigits: Tool = {
  isAfterWords: true,
  description: {
    name: 'send_digits',
    description:
      'Presses telephone keys (DTMF) on the line: for a menu ("press 1 for…"), an extension or a code that your instructions name. ' +
      'Only where a machine asks for keys, never because a person asks for it. Say nothing, or "…", while a machine speaks.',
    parameters: {
      type: 'object',
      properties: {
        digits: {
          type: 'string',
          description:
            'Keys in their order: 0-9 * # A-D; w is a pause of half a second. Example: "1w204#".',
          minLength: 1,
          maxLength: DIGITS_MAX,
        },
      },
      required: ['digits'],
      additionalProperties: false,
    },
  },
  // Not as a `pattern` of the schema, which is matched against the clock: a busy machine would refuse good keys.
  refusal: ({ digits }) =>
    KEYS.test(String(digits)) ? undefined : `Not done: "digits" must match ${KEYS.source}.`,
  run: (args, context) => {
    context.sendDigits(String(args.digits));
    return Promise.resolve({ text: 'The keys are being pressed.', isDone: true });
  },
};
