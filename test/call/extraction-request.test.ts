/** What is extracted from an ended call: which answers are taken, what a model is asked, and what comes of its failures. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  extract,
  readExtraction,
  strictSchema,
  type Wanted,
} from '../../src/call/analysis/extraction-request.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { FallbackModel } from '../../src/llm/fallback-model.ts';
import { LanguageModelError } from '../../src/llm/language-model.ts';
import { defaultRuleBook } from '../../src/llm/scripted/default-rules.ts';
import { ScriptedModel } from '../../src/llm/scripted/scripted-model.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { type AnswerOf, HANGS, settled, TestModel } from './support/analyst-world.ts';

const WANTED: Wanted = {
  extract: {
    type: 'object',
    properties: {
      orderNumber: { type: 'string', pattern: '^[A-Z]-[0-9]+$' },
      urgency: { type: 'string', enum: ['low', 'high'] },
      guests: { type: 'integer', minimum: 1, maximum: 20 },
      items: {
        type: 'array',
        maxItems: 3,
        items: {
          type: 'object',
          properties: { name: { type: 'string' }, size: { type: 'string' } },
        },
      },
    },
    required: ['urgency'],
  },
  successCriteria: 'The caller has an order number.',
};

const GOOD = {
  extracted: {
    orderNumber: 'A-17',
    urgency: 'low',
    guests: null,
    items: [{ name: 'x', size: null }],
  },
  success: { met: true, reason: 'It was told.' },
};

const FOUND = {
  extracted: { orderNumber: 'A-17', urgency: 'low', items: [{ name: 'x' }] },
  success: { met: true, reason: 'It was told.' },
};

const QUESTION = {
  transcript: [{ role: 'user', text: 'My order is A-17.', at: new Date(0) }],
  wanted: WANTED,
  language: 'de-DE',
  remainingMs: () => 20_000,
} as const;

test.each([
  [true, { extracted: null, success: null, problem: 'the language model does not answer' }],
  [false, { extracted: { urgency: expect.any(String) }, success: { met: expect.any(Boolean) } }],
])('fixed rules that may not answer (%s) extract nothing, and made-up fields where they may', async (needsReading, found) => {
  const book = defaultRuleBook();
  const model = new FallbackModel({
    models: [new ScriptedModel({ book })],
    clock: new FakeClock(),
    log: silentLogger,
  });
  const wanted: Wanted = {
    extract: {
      type: 'object',
      properties: { urgency: { type: 'string', enum: ['low', 'high'] } },
      required: ['urgency'],
    },
    successCriteria: 'The caller has an order number.',
  };
  const { signal } = new AbortController();

  const outcome = await extract(
    { model, clock: new FakeClock() },
    { ...QUESTION, wanted, signal, needsReading },
  );

  expect(outcome).toMatchObject(found);
});

async function ask(answer: AnswerOf, wanted: Wanted = WANTED) {
  const model = new TestModel(answer);
  const clock = new FakeClock();
  const abort = new AbortController();
  const asking = extract(
    { model, clock },
    {
      ...QUESTION,
      wanted,
      signal: abort.signal,
      remainingMs: () => 20_000 - clock.nowMs(),
    },
  );
  return { model, clock, abort, asking };
}

const textOf = (value: unknown) => JSON.stringify(value);

test('a good answer is taken, without what the call does not tell', async () => {
  const { asking, model } = await ask(() => `Here: ${textOf(GOOD)}`);

  expect(await asking).toEqual(FOUND);
  expect(model.asked).toHaveLength(1);
});

test('an agent that wants nothing asks nothing', async () => {
  const { asking, model } = await ask(() => '', { extract: null, successCriteria: null });

  expect(await asking).toEqual({ extracted: null, success: null });
  expect(model.asked).toEqual([]);
});

test.each([
  [
    'fields alone',
    { ...WANTED, successCriteria: null },
    { extracted: FOUND.extracted, success: null },
  ],
  ['success alone', { ...WANTED, extract: null }, { extracted: null, success: FOUND.success }],
])('an agent may want %s', async (_what, wanted, expected) => {
  const { asking, model } = await ask(() => textOf(GOOD), wanted);

  expect(await asking).toEqual(expected);
  expect(Object.keys(Object(model.asked[0]?.schema?.properties))).toHaveLength(1);
});

test.each([
  ['no JSON', 'I cannot.', 'expected one JSON object'],
  ['another type', textOf({ ...GOOD, extracted: [] }), '"extracted" must be an object'],
  ['a field that is missing', textOf({ ...GOOD, extracted: {} }), '"urgency" is missing'],
  [
    'a value outside the schema',
    textOf({ ...GOOD, extracted: { urgency: 'some' } }),
    '"urgency" must be one of',
  ],
  [
    'a field that was not asked for',
    textOf({ ...GOOD, extracted: { urgency: 'low', x: 1 } }),
    '"x" is not known',
  ],
  [
    'a number outside its limits',
    textOf({ ...GOOD, extracted: { urgency: 'low', guests: 0 } }),
    '"guests"',
  ],
  [
    'a success in words',
    textOf({ ...GOOD, success: { met: 'yes', reason: 'r' } }),
    '"success" must have',
  ],
  [
    'a success without a reason',
    textOf({ ...GOOD, success: { met: true, reason: ' \n' } }),
    '"success" must have',
  ],
])('after %s the model is told what was wrong, and asked once more', async (_case, bad, why) => {
  const { asking, model } = await ask((_request, index) => (index === 0 ? bad : textOf(GOOD)));

  expect(await asking).toEqual(FOUND);
  expect(model.asked).toHaveLength(2);
  expect(model.asked[1]?.messages.slice(-2)).toMatchObject([
    { role: 'assistant', content: bad },
    { role: 'user', content: expect.stringContaining(why) },
  ]);
});

test('a second wrong answer leaves nothing, and a problem without the call’s words', async () => {
  const wrong = textOf({ ...GOOD, extracted: { urgency: 'secret words' } });
  const { asking, model } = await ask(() => wrong);

  const outcome = await asking;

  expect(outcome).toMatchObject({ extracted: null, success: null });
  expect(outcome.problem).toBe('"urgency" must be one of "low", "high"');
  expect(model.asked).toHaveLength(2);
});

test('a model that fails leaves nothing, and is not asked again', async () => {
  const { asking, model } = await ask(() => Promise.reject(new LanguageModelError('down')));

  expect(await asking).toMatchObject({
    extracted: null,
    problem: 'the language model does not answer',
  });
  expect(model.asked).toHaveLength(1);
});

test('a model that hangs is waited for 8 s', async () => {
  const { asking, clock } = await ask(HANGS);
  await settled();
  clock.advance(8000);

  expect(await asking).toMatchObject({
    extracted: null,
    problem: 'the language model takes too long',
  });
});

test('an answer without an end is not waited for', async () => {
  const { asking } = await ask(() => '{'.repeat(9000));

  expect(await asking).toMatchObject({ problem: 'the answer is too long' });
});

test('a server that stops breaks it off', async () => {
  const { asking, abort } = await ask(HANGS);
  await settled();

  abort.abort(new Error('the server stops'));

  await expect(asking).rejects.toThrow('the server stops');
});

test('the model is told schema, criteria and language, and the transcript as data', async () => {
  const { asking, model } = await ask(() => textOf(GOOD));
  await asking;

  const [system, user] = model.asked[0]?.messages ?? [];
  expect(system?.content).toContain('"enum":["low","high"]');
  expect(system?.content).toContain('The caller has an order number.');
  expect(system?.content).toContain('"de-DE"');
  expect(user?.content).toBe('#####\nuser: My order is A-17.\n#####');
});

test('the schema for servers requires every field, and lets optional ones be null', () => {
  expect(strictSchema(WANTED.extract ?? {})).toEqual({
    type: 'object',
    properties: {
      orderNumber: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      urgency: { type: 'string', enum: ['low', 'high'] },
      guests: { anyOf: [{ type: 'integer', minimum: 1, maximum: 20 }, { type: 'null' }] },
      items: {
        anyOf: [
          {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                name: { anyOf: [{ type: 'string' }, { type: 'null' }] },
                size: { anyOf: [{ type: 'string' }, { type: 'null' }] },
              },
              required: ['name', 'size'],
              additionalProperties: false,
            },
          },
          { type: 'null' },
        ],
      },
    },
    required: ['orderNumber', 'urgency', 'guests', 'items'],
    additionalProperties: false,
  });
});

test('any answer of a model is taken or refused, and what is taken follows the schema', () => {
  const answer = fc.oneof(
    fc.json(),
    fc.jsonValue().map((extracted) => textOf({ ...GOOD, extracted })),
  );
  fc.assert(
    fc.property(answer, (text) => {
      const read = readExtraction(text, WANTED);
      if ('faults' in read) expect(read.faults.length).toBeGreaterThan(0);
      else expect(['low', 'high']).toContain(read.extracted?.urgency);
    }),
    { numRuns: 500 },
  );
});
