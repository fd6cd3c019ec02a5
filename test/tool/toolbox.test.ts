/** What the model may use, and what it is told when it may not. */
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolCall } from '../../src/llm/language-model.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../src/tool/tool.ts';
import { Toolbox, toolboxFor } from '../../src/tool/toolbox.ts';
import type { TransferRules } from '../../src/tool/transfer-call.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const RULES: TransferRules = {
  targets: [{ label: 'sales', number: '+390612345678' }],
  systemPrompt: '',
  agentNumber: '+390698765432',
  ownNumbers: [],
};

const never = new AbortController().signal;
const idle: ToolContext = {
  transfer: () => Promise.resolve(),
  sendDigits: () => undefined,
  collectDigits: async () => '',
  appointmentBooked: () => undefined,
};
const callOf = (name: string, args: Readonly<Record<string, unknown>> = {}) => ({
  id: 'call_1',
  name,
  arguments: args,
});

function toolOf(run: Tool['run'], parameters: Readonly<Record<string, unknown>> = {}): Tool {
  const description = { name: 'try', description: '', parameters };
  return { description, isAfterWords: false, run };
}

function boxOf(tool: Tool) {
  const clock = new FakeClock();
  return { clock, box: new Toolbox({ tools: [tool], clock }) };
}

const frontDesk = (names: readonly string[]) =>
  toolboxFor({ names, transferRules: RULES, clock: new FakeClock() });

test('toolboxFor offers what the agent lists, and always the end of the call', () => {
  const namesOf = (names: readonly string[]) =>
    frontDesk(names).descriptions.map(({ name }) => name);

  expect(namesOf([])).toEqual(['end_call']);
  expect(namesOf(['transfer_call', 'send_sms'])).toEqual(['transfer_call', 'end_call']);
});

test.each([
  '1',
  '0123456789*#ABCD',
  '1w204#',
  'w'.repeat(32),
])('Toolbox presses the keys %s on the line', async (digits) => {
  const pressed: string[] = [];
  const context = { ...idle, sendDigits: (keys: string) => pressed.push(keys) };

  const call = callOf('send_digits', { digits });
  const outcome = await frontDesk(['send_digits']).run(call, context, never);

  expect(pressed).toEqual([digits]);
  expect(outcome.isDone).toBe(true);
});

test.each([
  {},
  { digits: '' },
  { digits: '1,2' },
  { digits: 'w'.repeat(33) },
  { digits: 5 },
])('Toolbox presses no keys for %j', async (args) => {
  const pressed: string[] = [];
  const context = { ...idle, sendDigits: (keys: string) => pressed.push(keys) };

  const outcome = await frontDesk(['send_digits']).run(callOf('send_digits', args), context, never);

  expect(pressed).toEqual([]);
  expect(outcome.text).toMatch(/^Not done: /);
});

test('Toolbox presses no keys for an agent that does not list the tool', async () => {
  const outcome = await frontDesk([]).run(callOf('send_digits', { digits: '1' }), idle, never);

  expect(outcome.text).toMatch(/^Not done: "send_digits" is not available here/);
});

test('toolboxFor shows the model labels and no number', () => {
  const shown = JSON.stringify(frontDesk(['transfer_call']).descriptions);

  expect(shown).toContain('sales');
  expect(shown).not.toContain('39061');
});

test('Toolbox hands the caller over to an allowed label', async () => {
  const dialled: string[] = [];
  const transfer = (number: string) => {
    dialled.push(number);
    return Promise.resolve();
  };

  const call = callOf('transfer_call', { destination: 'Sales' });
  const outcome = await frontDesk(['transfer_call']).run(call, { ...idle, transfer }, never);

  expect(dialled).toEqual(['+390612345678']);
  expect(outcome.next).toBe('transferred');
});

test.each([
  [{}, 'cold'],
  [{ mode: 'cold' }, 'cold'],
  [{ mode: 'warm' }, 'warm'],
  [{ mode: 'three-way' }, 'three-way'],
  [{ mode: 'hot' }, undefined],
])('Toolbox transfers in the mode that the model names in %o: %s', async (args, expected) => {
  const modes: (string | undefined)[] = [];
  const transfer: ToolContext['transfer'] = async (_number, _summary, mode) => {
    modes.push(mode);
  };

  const call = callOf('transfer_call', { destination: 'sales', summary: 'a refund', ...args });
  await frontDesk(['transfer_call']).run(call, { ...idle, transfer }, never);

  expect(modes).toEqual(expected === undefined ? [] : [expected]);
});

test('Toolbox goes on with the call after it has brought in a third party', async () => {
  const call = callOf('transfer_call', { destination: 'sales', mode: 'three-way' });

  const outcome = await frontDesk(['transfer_call']).run(call, idle, never);

  expect(outcome.next).toBe('three-way');
});

test('Toolbox dials nothing for a number that the caller has dictated', async () => {
  const dialled: string[] = [];
  const transfer = (number: string) => {
    dialled.push(number);
    return Promise.resolve();
  };

  const call = callOf('transfer_call', { destination: '+442079460000' });
  const outcome = await frontDesk(['transfer_call']).run(call, { ...idle, transfer }, never);

  expect(dialled).toEqual([]);
  expect(outcome).toEqual({ text: expect.stringContaining('Not done') });
});

test('Toolbox tells the model of a failed transfer without the number', async () => {
  const transfer = () => Promise.reject(new Error('Cannot transfer to "+390612345678": 486'));

  const call = callOf('transfer_call', { destination: 'sales' });
  const outcome = await frontDesk(['transfer_call']).run(call, { ...idle, transfer }, never);

  expect(outcome.text).toBe(
    'Not done: it was refused or failed. Tell the caller that it did not work.',
  );
});

test.each([
  ['send_sms', '"send_sms" is not available here'],
  ['book_appointment', '"book_appointment" is not available here'],
  ['launch_rocket', '"launch_rocket" does not exist'],
])('Toolbox is honest about %s', async (name, expected) => {
  const outcome = await frontDesk([name]).run(callOf(name), idle, never);

  expect(outcome.text).toContain(expected);
  expect(outcome.next).toBeUndefined();
});

test.each([
  [{}, 'Not done: "day" is missing.'],
  [{ day: 4 }, 'Not done: "day" must be of type string.'],
  [{ day: 'Sunday' }, 'Not done: "day" must be one of "Monday", "Friday".'],
  [{ day: 'Monday', hour: 'nine' }, 'Not done: "hour" must be of type integer.'],
  [{ day: 'Monday', evil: true }, 'Not done: "evil" is not known.'],
  [{ day: 'Monday', note: 'x'.repeat(21) }, 'Not done: "note" must be at most 20 characters long.'],
  [{ day: 'monday ', hour: 9 }, 'done'],
])('Toolbox checks arguments %o', async (args, expected) => {
  const { box } = boxOf(
    toolOf(() => Promise.resolve({ text: 'done' }), {
      type: 'object',
      properties: {
        day: { type: 'string', enum: ['Monday', 'Friday'] },
        hour: { type: 'integer' },
        note: { type: 'string', maxLength: 20 },
      },
      required: ['day'],
    }),
  );

  expect((await box.run(callOf('try', args), idle, never)).text).toBe(expected);
});

test('Toolbox gives a tool up that takes too long, and stops it', async () => {
  let wasStopped = false;
  const { box, clock } = boxOf(
    toolOf((_args, _context, signal) => {
      signal.addEventListener('abort', () => {
        wasStopped = true;
      });
      return new Promise(() => undefined);
    }),
  );

  const running = box.run(callOf('try'), idle, never);
  clock.advance(10_000);

  expect((await running).text).toContain('it took too long');
  expect(wasStopped).toBe(true);
});

test('Toolbox tells later what came of a tool that was aborted and went on', async () => {
  const outcome = Promise.withResolvers<ToolOutcome>();
  const { box } = boxOf(toolOf(() => outcome.promise));
  const caller = new AbortController();
  const late: ToolOutcome[] = [];

  const running = box.run(callOf('try'), idle, caller.signal, (settled) => late.push(settled));
  caller.abort();
  const { text } = await running;
  outcome.resolve({ text: 'Booked.', isDone: true });
  await setImmediate();

  expect(text).toContain('Not done');
  expect(late).toEqual([{ text: 'Booked.', isDone: true }]);
});

test('Toolbox reports a transfer that still rings as unanswered, and not as failed', async () => {
  const clock = new FakeClock();
  const box = toolboxFor({ names: ['transfer_call'], transferRules: RULES, clock });
  const transfer = () => new Promise<never>(() => undefined);

  const call = callOf('transfer_call', { destination: 'sales' });
  const running = box.run(call, { ...idle, transfer }, never);
  clock.advance(75_000);
  const { text, next } = await running;

  expect(text).toContain('No answer yet');
  expect(text).not.toContain('Not done');
  expect(next).toBeUndefined();
});

test('Toolbox leaves no timer behind', async () => {
  const { box, clock } = boxOf(toolOf(() => Promise.resolve({ text: 'done' })));

  await box.run(callOf('try'), idle, never);

  expect(clock.waiting).toBe(0);
});

test('Toolbox cuts a result that is too long', async () => {
  const { box } = boxOf(toolOf(() => Promise.resolve({ text: 'x'.repeat(9999) })));

  expect((await box.run(callOf('try'), idle, never)).text).toHaveLength(2000);
});

test.each([
  null,
  undefined,
  [],
  'sales',
  7,
])('Toolbox tells the model of arguments that are %j', async (args) => {
  const call = { id: 'call_1', name: 'transfer_call', arguments: args } as unknown as ToolCall;

  const outcome = await frontDesk(['transfer_call']).run(call, idle, never);

  expect(outcome).toEqual({ text: 'Not done: the arguments must be an object.' });
});

test('Toolbox does not run a tool whose arguments were malformed, and tells the model', async () => {
  const runs: unknown[] = [];
  const { box } = boxOf(toolOf(async (args) => ({ text: String(runs.push(args)) })));

  const outcome = await box.run({ ...callOf('try'), isMalformed: true }, idle, never);

  expect(outcome.text).toMatch(/^Not done: the arguments were not a JSON object/);
  expect(runs).toEqual([]);
});

test('Toolbox tells the model of a call without a name', async () => {
  const call = { id: 'call_1', name: null, arguments: {} } as unknown as ToolCall;

  expect((await frontDesk([]).run(call, idle, never)).text).toContain('does not exist');
});

test('Toolbox never rejects, whatever the model sends', async () => {
  const box = frontDesk(['transfer_call']);
  const names = fc.oneof(fc.string(), fc.constantFrom('transfer_call', 'end_call', '__proto__'));

  await fc.assert(
    fc.asyncProperty(names, fc.jsonValue(), async (name, args) => {
      const call = { id: 'call_1', name, arguments: args } as ToolCall;
      const outcome = await box.run(call, idle, never);

      expect(outcome.text).not.toBe('');
    }),
  );
});

test.each([
  ['a transfer to a label', callOf('transfer_call', { destination: 'sales' }), true],
  ['the end of the call', callOf('end_call'), true],
  ['a transfer to a stranger', callOf('transfer_call', { destination: '+390600000000' }), false],
  ['a transfer without a destination', callOf('transfer_call'), false],
  ['a tool that does not exist', callOf('no_such_tool'), false],
])('Toolbox lets %s wait for its words only where the call is accepted', (_case, call, expected) => {
  expect(frontDesk(['transfer_call']).isAfterWords(call)).toBe(expected);
});
