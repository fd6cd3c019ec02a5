/** `collect_digits`: what it refuses, what the model learns of an entry, and where the digits may go. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CollectedDigits,
  createCollectDigits,
  hasCheckDigit,
} from '../../src/tool/keypad-tools.ts';
import {
  RESULT_LENGTH_MAX,
  type Tool,
  type ToolArguments,
  type ToolContext,
} from '../../src/tool/tool.ts';
import { Toolbox, toolboxFor } from '../../src/tool/toolbox.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const CARD = '4111111111111111';

const never = new AbortController().signal;

function contextFor(typed: string) {
  const asked: number[] = [];
  const context: ToolContext = {
    transfer: async () => undefined,
    sendDigits: () => undefined,
    appointmentBooked: () => undefined,
    collectDigits: async (max) => {
      asked.push(max);
      return typed;
    },
  };
  return { asked, context };
}

/** Repeats what it was given. */
function repeaterOf(mayUseCollected: boolean): Tool {
  return {
    isAfterWords: false,
    mayUseCollected,
    description: {
      name: 'pay',
      description: '',
      parameters: {
        type: 'object',
        properties: { card: { type: 'string', pattern: '^[0-9]{12,19}$' }, note: {} },
      },
    },
    run: async (args) => ({
      text: `Paid with ${JSON.stringify(args)}`,
      problem: String(args.card),
    }),
  };
}

function openBox(mayUseCollected = true) {
  const collected = new CollectedDigits();
  const tools = [createCollectDigits(collected), repeaterOf(mayUseCollected)];
  return new Toolbox({ tools, clock: new FakeClock(), collected });
}

async function collect(box: Toolbox, args: ToolArguments, typed: string) {
  const { asked, context } = contextFor(typed);
  const call = { id: 'call_1', name: 'collect_digits', arguments: args };
  return { asked, outcome: await box.run(call, context, never) };
}

async function pay(box: Toolbox, args: ToolArguments) {
  return box.run({ id: 'call_2', name: 'pay', arguments: args }, contextFor('').context, never);
}

test('the model learns how many digits there are, and none of them', async () => {
  const { asked, outcome } = await collect(openBox(), { name: 'card_number', isCard: true }, CARD);

  expect(asked).toEqual([19]);
  expect(outcome).toMatchObject({ isDone: true });
  expect(outcome.text).toMatch(/^Collected 16 digits as {{card_number}}\./);
  expect(outcome.text).not.toContain('4111');
});

test.each([
  ['4111111111111112', { isCard: true }, 'the check digit is wrong'],
  ['41111111', { isCard: true }, '8 digits were typed, and 12 to 19 are expected'],
  ['123', { minDigits: 4, maxDigits: 4 }, '3 digits were typed, and 4 are expected'],
  ['', {}, 'no key was pressed'],
])('an entry %s for %j is not kept, and the model is told why', async (typed, limits, why) => {
  const box = openBox();
  const { outcome } = await collect(box, { name: 'card', ...limits }, typed);
  const paid = await pay(box, { card: '{{card}}' });

  expect(outcome.text).toContain(`Not collected: ${why}`);
  expect(outcome.isDone).toBeUndefined();
  expect(paid.text).toContain('"card" must match');
});

test('a tool of the customer gets the digits, and what it says of them is hidden', async () => {
  const box = openBox();
  await collect(box, { name: 'card' }, CARD);

  const note = { text: ['from {{card}}', 'and {{other}}'] };
  const { text, problem } = await pay(box, { card: '{{ card }}', note });

  expect(text).toBe(
    'Paid with {"card":"[digits]","note":{"text":["from [digits]","and {{other}}"]}}',
  );
  expect(problem).toBe('[digits]');
});

test.each([
  '4111 1111 1111 1111',
  '4111-1111-1111-1111',
])('digits written as %s are hidden', (text) => {
  const collected = new CollectedDigits();
  collected.keep('card', CARD);
  collected.keep('card', '123');
  collected.keep('floor', '12');

  expect(collected.hide(`No. ${text}, 123 of 1234 on 12.`)).toBe(
    'No. [digits], [digits] of 1234 on 12.',
  );
});

test('an answer that is cut in the middle of the digits shows none of them', async () => {
  const collected = new CollectedDigits();
  const long: Tool = {
    ...repeaterOf(true),
    run: async () => ({ text: `${'x'.repeat(RESULT_LENGTH_MAX - 8)}${CARD}` }),
  };
  const tools = [createCollectDigits(collected), long];
  const box = new Toolbox({ tools, clock: new FakeClock(), collected });
  await collect(box, { name: 'card' }, CARD);

  const { text } = await pay(box, { card: '{{card}}' });

  expect(text).toHaveLength(RESULT_LENGTH_MAX);
  expect(text).not.toMatch(/\d/);
});

test('other tools get the name and not the digits', async () => {
  const box = openBox(false);
  await collect(box, { name: 'card' }, CARD);

  expect((await pay(box, { note: '{{card}}' })).text).toContain('{{card}}');
});

test.each([
  { name: 'Card' },
  { name: '' },
  { name: '__proto__x'.repeat(9) },
  { name: 'card', minDigits: 5, maxDigits: 4 },
  { name: 'card', maxDigits: 33 },
  { name: 'card', minDigits: 0 },
  { name: 'card', isCard: 'yes' },
  { name: 'card', digits: CARD },
  {},
])('arguments %j are refused before a key is asked for', async (args) => {
  const { asked, outcome } = await collect(openBox(), args, CARD);

  expect(outcome.text).toMatch(/^Not done: /);
  expect(asked).toEqual([]);
});

test('no arguments make the tool take more keys than it may, or name digits in its answer', async () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.double());
  const args = fc.dictionary(
    fc.constantFrom('name', 'minDigits', 'maxDigits', 'isCard', 'x'),
    value,
  );
  await fc.assert(
    fc.asyncProperty(args, async (given) => {
      const { asked, outcome } = await collect(openBox(), given, CARD);
      expect(asked.every((max) => max >= 1 && max <= 32)).toBe(true);
      expect(outcome.text).not.toContain('4111');
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['4111111111111111', true],
  ['5555555555554444', true],
  ['378282246310005', true],
  ['79927398713', true],
  ['79927398710', false],
  ['0', false],
])('hasCheckDigit of %s is %s', (digits, expected) => {
  expect(hasCheckDigit(digits)).toBe(expected);
});

test('an agent has the tool where it lists it', () => {
  const rules = { targets: [], systemPrompt: '', agentNumber: null, ownNumbers: [] };
  const boxOf = (names: readonly string[]) =>
    toolboxFor({ names, transferRules: rules, clock: new FakeClock() });
  const call = { id: 'c', name: 'collect_digits', arguments: { name: 'pin' } };
  const refused = { ...call, arguments: { name: 'P I N' } };
  const box = boxOf(['collect_digits']);

  expect([box.hasKeypad, box.takesKeys(call), box.takesKeys(refused)]).toEqual([true, true, false]);
  expect([boxOf([]).hasKeypad, boxOf([]).takesKeys(call)]).toEqual([false, false]);
});
