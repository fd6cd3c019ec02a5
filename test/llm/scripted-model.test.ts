/** The rule book as a language model, and the rule book that comes with the server. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatMessage, ModelEvent } from '../../src/llm/language-model.ts';
import { DEFAULT_RULES_FILE, defaultRuleBook } from '../../src/llm/scripted/default-rules.ts';
import { loadRuleBook, parseRuleBook } from '../../src/llm/scripted/rule-book.ts';
import { ScriptedModel } from '../../src/llm/scripted/scripted-model.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import {
  collect,
  describeLanguageModel,
  requestOf,
  TRANSFER,
  textOf,
} from './language-model.contract.ts';

const END_CALL = { name: 'end_call', description: 'Ends the call.', parameters: {} };
const FRONT_DESK = defaultRuleBook();

describeLanguageModel('ScriptedModel', () => new ScriptedModel({ book: FRONT_DESK }));

function bookOf(...rules: unknown[]) {
  return parseRuleBook({ name: 'test', rules, otherwise: { say: 'What?' } });
}

async function answer(words: string, before: readonly ChatMessage[] = []): Promise<ModelEvent[]> {
  const request = requestOf(words, { tools: [TRANSFER, END_CALL] });
  const messages = [...before, { role: 'user', content: words } as const];
  return collect(new ScriptedModel({ book: FRONT_DESK }).stream({ ...request, messages }));
}

test.each([
  ['What are your opening hours?', /from nine in the morning/],
  ['Okay, what are your opening hours?', /from nine in the morning/],
  ['I would like to book an appointment.', /Which day/],
  ['I would like to book an appointment for Monday at nine o’clock.', /Monday is possible|nine/],
  ["Can I come on Friday at two o'clock?", /Friday at two o'clock/],
  ['Wednesday.', /^Wednesday is possible/],
  ['I have a question about my bill.', /your bill/],
  ['What is the status of my order?', /order number/],
  ['My order number is four two one.', /I have noted four two one\. Is that correct/],
  ['What is your address?', /Market Square/],
  ['How much does it cost?', /forty dollars/],
  ['My name is Alice Smith.', /Thank you, Alice Smith\./],
  ['(pressed 4 2)', /You pressed 4 2\./],
  ['¿Cuánto cuesta?', /cuarenta dólares/],
  ['Hola.', /ayudarle/],
  ['Sí.', /ayudarle/],
  ['Flibbertigibbet.', /did not understand/],
])('the front desk answers "%s"', async (words, expected) => {
  expect(textOf(await answer(words))).toMatch(expected);
});

test.each([
  'Goodbye.',
  'Bye bye.',
  "That's all.",
  'Okay, goodbye.',
  'Adiós.',
])('the front desk ends the call on "%s"', async (words) => {
  const events = await answer(words);

  expect(events.at(-1)).toMatchObject({ kind: 'tool-call', call: { name: 'end_call' } });
  expect(textOf(events)).not.toBe('');
});

test('the front desk repeats what was said last', async () => {
  const before = [{ role: 'assistant', content: 'We are open.' } as const];

  expect(textOf(await answer('Can you repeat that?', before))).toBe('I said: We are open.');
});

test('the front desk understands "no" after asking for more as the end', async () => {
  const before = [{ role: 'assistant', content: 'Is there anything else?' } as const];

  const events = await answer('No, thank you.', before);

  expect(events.at(-1)).toMatchObject({ call: { name: 'end_call' } });
});

test('the front desk says so when a transfer did not work', async () => {
  const messages = [
    { role: 'tool', toolCallId: 'a', name: 'transfer_call', content: 'Not done.' } as const,
  ];
  const request = { ...requestOf('', { tools: [TRANSFER] }), messages };

  const events = await collect(new ScriptedModel({ book: FRONT_DESK }).stream(request));

  expect(textOf(events)).toMatch(/cannot connect you/);
});

test('ScriptedModel does not promise a tool that it is not offered', async () => {
  const model = new ScriptedModel({ book: FRONT_DESK });

  const events = await collect(model.stream(requestOf('Can I speak to a person?')));

  expect(events.every(({ kind }) => kind === 'text')).toBe(true);
  expect(textOf(events)).toMatch(/nobody can take your call/);
});

test('ScriptedModel tries rules of higher priority first, and equal ones in their order', async () => {
  const book = bookOf(
    { id: 'any', when: { any: true }, say: 'Any.' },
    { id: 'a', when: { words: ['red'] }, say: 'Red.', priority: 1 },
    { id: 'b', when: { regex: 'red' }, say: 'Also red.', priority: 1 },
  );

  const events = await collect(new ScriptedModel({ book }).stream(requestOf('A RED car.')));

  expect(textOf(events)).toBe('Red.');
});

test('ScriptedModel uses a rule for one time only when it says so', async () => {
  const book = bookOf(
    { id: 'first', when: { any: true }, say: 'Welcome.', once: true },
    { id: 'then', when: { any: true }, say: 'Yes?' },
  );
  const messages = [
    { role: 'assistant', content: 'Welcome.' } as const,
    { role: 'user', content: 'Hello.' } as const,
  ];

  const events = await collect(new ScriptedModel({ book }).stream({ ...requestOf(''), messages }));

  expect(textOf(events)).toBe('Yes?');
});

test('ScriptedModel takes as long as it is told to', async () => {
  const clock = new FakeClock();
  const book = bookOf({ id: 'any', when: { any: true }, say: 'One two.' });
  const model = new ScriptedModel({ book, clock, firstWordMs: 100, wordMs: 20 });
  const heard: [number, string][] = [];

  const listening = (async () => {
    for await (const event of model.stream(requestOf('Hello.'))) {
      if (event.kind === 'text') heard.push([clock.nowMs(), event.text]);
    }
  })();
  for (let step = 0; step < 12; step += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10);
  }
  await listening;

  expect(heard).toEqual([
    [100, 'One'],
    [120, ' two.'],
  ]);
});

test('ScriptedModel analyses a conversation the same way each time, following the schema', async () => {
  const schema = {
    type: 'object',
    properties: {
      summary: { type: 'string' },
      sentiment: { type: 'string', enum: ['positive', 'neutral', 'negative'] },
      sentimentScore: { type: 'number', minimum: 0, maximum: 1 },
      intentDetected: { type: 'string' },
    },
  };
  const transcript = 'agent: Hello.\nuser: I want to pay my bill.\nuser: Thank you.';

  const model = new ScriptedModel({ book: FRONT_DESK });
  const events = await collect(model.stream(requestOf(transcript, { schema })));

  expect(JSON.parse(textOf(events))).toEqual({
    summary: 'The caller said: I want to pay my bill.',
    sentiment: 'positive',
    sentimentScore: 0.9,
    intentDetected: 'billing',
  });
});

test.each([
  [{ id: 'a', when: { any: true } }, /rule "a": expected "say" or "call"/],
  [{ id: 'a', when: {}, say: 'x' }, /rule "a": when: expected at least one condition/],
  [{ id: 'a', when: { regex: '(' }, say: 'x' }, /rule "a": when.regex: Invalid regular expression/],
  [{ id: 'a', when: { regex: 'x' }, say: '{name}' }, /rule "a": say: "{name}" is no named group/],
  [{ id: 'a', when: { any: true }, says: 'x' }, /rule "a"/],
  [{ when: { any: true }, say: 'x' }, /rule "number 1": id/],
])('parseRuleBook names the rule that is wrong: %o', (rule, expected) => {
  expect(() => bookOf(rule)).toThrow(expected);
});

test('defaultRuleBook gives what loadRuleBook makes of the same file', () => {
  const book = loadRuleBook(DEFAULT_RULES_FILE);

  expect(defaultRuleBook()).toEqual(book);
});

test('parseRuleBook refuses two rules of one id', () => {
  const rule = { id: 'a', when: { any: true }, say: 'x' };

  expect(() => bookOf(rule, rule)).toThrow('rule "a": expected an id of its own');
});

test('loadRuleBook names the file that it cannot use', () => {
  expect(() => loadRuleBook('/nowhere/rules.json')).toThrow(
    'Cannot use rule book "/nowhere/rules.json"',
  );
});

test('parseRuleBook takes anything for what it is: a rule book, or not one', () => {
  const rule = fc.record({
    id: fc.string(),
    when: fc.dictionary(fc.constantFrom('regex', 'words', 'any', 'after'), fc.jsonValue()),
    say: fc.string(),
  });
  const book = fc.record({ name: fc.string(), rules: fc.array(rule), otherwise: fc.jsonValue() });

  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), book), (value) => {
      try {
        expect(parseRuleBook(value).rules.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
    }),
  );
});
