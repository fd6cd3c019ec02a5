/** Tool `send_digits`: the agent presses telephone keys, for menus and extensions. */
import type { Tool } from './tool.ts';

/** Longest sequence: 5 s of keys, or 16 s of pauses. */
const DIGITS_MAX = 32;

const KEYS = /^[0-9*#A-DwW]+$/;

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
