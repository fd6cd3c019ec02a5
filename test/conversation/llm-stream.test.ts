/** One answer of the model: clause boundaries, events, and when it counts as an answer. */
import { expect, test } from 'vitest';
import type { HistoryKeeper } from '../../src/conversation/history/history-keeper.ts';
import { CALLS_MAX, CHARACTERS_MAX, streamReply } from '../../src/conversation/reply/llm-stream.ts';
import type { TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { LanguageModel, ModelEvent } from '../../src/llm/language-model.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { calls } from './support/fake-parts.ts';

/** Has a model that yields these, one after the other, answer. */
async function thinkOf(events: Iterable<ModelEvent>, stop = new AbortController()) {
  let taken = 0;
  let answered = 0;
  const model: LanguageModel = {
    name: 'scripted',
    async *stream() {
      for (const event of events) {
        taken += 1;
        yield event;
      }
    },
    check: () => Promise.resolve(),
  };
  const history = {
    fit: () => ({ messages: [], onUsage: () => undefined }),
    answered: () => {
      answered += 1;
    },
  } as unknown as HistoryKeeper;
  const told: TurnEvent[] = [];
  const tell = (event: TurnEvent) => void told.push(event);
  await streamReply({
    ...{ reply: 1, model, messages: [], tools: [], history },
    ...{
      signal: stop.signal,
      tell,
      isVoiceDry: () => true,
      clock: new FakeClock(),
      log: silentLogger,
    },
  });
  return { told, kinds: told.map(({ kind }) => kind), taken, answered };
}

const text = (length: number): ModelEvent => ({ kind: 'text', text: 'a'.repeat(length) });

test('streamReply tells that the model has begun once, and that it has finished', async () => {
  const words: ModelEvent[] = ['Yes.', ' We', ' are.'].map((one) => ({ kind: 'text', text: one }));

  const { kinds, answered } = await thinkOf(words);

  expect(kinds).toEqual(['model-began', 'clause', 'clause', 'model-finished']);
  expect(answered).toBe(1);
});

test('streamReply has no stage direction spoken, also where the model sends it in pieces', async () => {
  const words: ModelEvent[] = ['*smi', 'les warm', 'ly* Sure', '. (laughs)'].map((one) => ({
    kind: 'text',
    text: one,
  }));

  const { told } = await thinkOf(words);

  expect(told.flatMap((event) => (event.kind === 'clause' ? [event.text] : []))).toEqual(['Sure.']);
});

test.each([
  ['as many characters as may be said', [text(CHARACTERS_MAX), text(1), text(1)], 2],
  ['more than that', [text(CHARACTERS_MAX + 1), text(1)], 1],
  ['one tool call less than there may be', Array(CALLS_MAX - 1).fill(calls('book')), CALLS_MAX - 1],
  ['as many tool calls as there may be', Array(CALLS_MAX + 2).fill(calls('book')), CALLS_MAX],
])('streamReply reads no further after %s', async (_, events: ModelEvent[], expected) => {
  const { taken, kinds } = await thinkOf(events);

  expect(taken).toBe(expected);
  expect(kinds.at(-1)).toBe('model-finished');
});

test('streamReply ends an answer that is too long with its last whole sentence', async () => {
  const sentence = 'We have a very nice thing in stock today. ';
  const words = Array.from({ length: 60 }, () => sentence.split(/(?<= )/)).flat();

  const { told } = await thinkOf(words.map((one) => ({ kind: 'text', text: one })));

  const clauses = told.flatMap((event) => (event.kind === 'clause' ? [event.text] : []));
  expect(clauses.length).toBeGreaterThan(30);
  expect(new Set(clauses)).toEqual(new Set([sentence.trim()]));
});

test('streamReply tells of a model that fails, and does not count that as an answer', async () => {
  const { kinds, answered } = await thinkOf(
    (function* () {
      yield text(3);
      throw new Error('no memory');
    })(),
  );

  expect(kinds).toEqual(['model-began', 'model-failed']);
  expect(answered).toBe(0);
});

test.each([
  ['fails', new Error('aborted')],
  ['goes on', undefined],
])('streamReply tells nothing of a model that %s after the reply was dropped', async (_, failure) => {
  const stop = new AbortController();

  const { kinds, answered } = await thinkOf(
    (function* (): Generator<ModelEvent> {
      yield text(3);
      stop.abort();
      if (failure !== undefined) throw failure;
      yield text(3);
    })(),
    stop,
  );

  expect(kinds).toEqual(['model-began']);
  expect(answered).toBe(0);
});

/** A model that gives these texts, each after its milliseconds. */
async function thinkSlowly(
  texts: readonly (readonly [number, string])[],
  passMs: number,
  isVoiceDry = true,
) {
  const clock = new FakeClock();
  const model: LanguageModel = {
    name: 'slow',
    async *stream() {
      for (const [afterMs, words] of texts) {
        await new Promise<void>((resolve) => clock.after(afterMs, resolve));
        yield { kind: 'text', text: words };
      }
    },
    check: () => Promise.resolve(),
  };
  const told: (TurnEvent & { readonly atMs: number })[] = [];
  const history = {
    fit: () => ({ messages: [], onUsage: () => undefined }),
    answered: () => undefined,
  } as unknown as HistoryKeeper;
  const { signal } = new AbortController();
  const tell = (event: TurnEvent) => void told.push({ ...event, atMs: clock.nowMs() });
  const parts = { reply: 1, model, messages: [], tools: [], history };
  const streaming = streamReply({
    ...{ ...parts, signal, tell, isVoiceDry: () => isVoiceDry, clock, log: silentLogger },
  });
  await clock.pass(passMs);
  await streaming;
  return { told, waiting: clock.waiting };
}

test('streamReply tells how long the model waits, four times a second, and again after each clause', async () => {
  const { told, waiting } = await thinkSlowly(
    [
      [1100, 'Yes, we are open. '],
      [2000, 'Do come.'],
    ],
    3100,
  );

  const waits = told.flatMap((event) => (event.kind === 'model-waits' ? event.waitedMs : []));
  expect(waits.slice(0, 7)).toEqual([250, 500, 750, 1000, 1250, 1500, 1750]);
  expect(waits.slice(7)).toEqual([0, 250, 500, 750, 1000]);
  expect(waiting).toBe(0);
});

test('streamReply speaks a first clause without a mark 0.7 s after the first text, at a word', async () => {
  const slow: [number, string][] = ['I ', 'think ', 'that ', 'we ', 'could ', 'do that'].map(
    (word) => [300, word],
  );

  const { told } = await thinkSlowly(slow, 2000);

  const clauses = told.filter(({ kind }) => kind === 'clause');
  expect(clauses).toMatchObject([{ text: 'I think that' }, { text: 'we could do that' }]);
  expect(clauses[0]?.atMs).toBe(1000);
});

test.each([
  ['once the voice has run dry', true, ['Of course, we are', 'open every single', 'day']],
  ['not while the voice still speaks', false, ['Of course, we are', 'open every single day']],
])('streamReply speaks a later clause without a mark %s', async (_, isVoiceDry, expected) => {
  const slow: [number, string][] = [
    'Of course, ',
    'we ',
    'are ',
    'open ',
    'every ',
    'single ',
    'day',
  ].map((word) => [400, word]);

  const { told } = await thinkSlowly(slow, 3000, isVoiceDry);

  const clauses = told.flatMap((event) => (event.kind === 'clause' ? event.text : []));
  expect(clauses).toEqual(expected);
});

test('streamReply speaks words at once that come after a silence of the model', async () => {
  const slow: [number, string][] = [
    [100, 'Yes, of course. '],
    [2510, 'we are open every '],
    [2000, 'day.'],
  ];

  const { told } = await thinkSlowly(slow, 5000);

  const second = told.filter(({ kind }) => kind === 'clause')[1];
  expect(second).toMatchObject({ text: 'we are open every', atMs: 2610 });
});

test('streamReply reads no tool call aloud that the model wrote as text', async () => {
  const words = ['One moment.', '\n{"name": "transfer_', 'call"}', '\nYes.'];

  const { told } = await thinkOf(words.map((one) => ({ kind: 'text', text: one })));

  expect(told.flatMap((event) => (event.kind === 'clause' ? event.text : []))).toEqual([
    'One moment.',
    'Yes.',
  ]);
});
