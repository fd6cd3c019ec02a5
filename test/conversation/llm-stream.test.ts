/** One answer of the model: where it is cut, what is told of it, and when it counts as an answer. */
import { expect, test } from 'vitest';
import type { HistoryKeeper } from '../../src/conversation/history/history-keeper.ts';
import { CALLS_MAX, CHARACTERS_MAX, streamReply } from '../../src/conversation/reply/llm-stream.ts';
import type { TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { LanguageModel, ModelEvent } from '../../src/llm/language-model.ts';
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
    ...{ signal: stop.signal, tell, log: silentLogger },
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
