import { expect, test } from 'vitest';
import { GuardedModel } from '../../src/llm/guarded-model.ts';
import type { LanguageModel, ModelEvent } from '../../src/llm/language-model.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function measured(stream: (clock: FakeClock) => AsyncIterable<ModelEvent>) {
  const clock = new FakeClock();
  const noted: string[] = [];
  const times = {
    answered: (job: string, engine: string, tookMs: number) =>
      noted.push(`${job} ${engine} answered in ${tookMs}`),
    failed: (job: string, engine: string) => noted.push(`${job} ${engine} failed`),
  };
  const inner: LanguageModel = {
    name: 'ollama/tiny',
    stream: () => stream(clock),
    check: () => Promise.resolve(),
  };
  return { model: new GuardedModel(inner, { times, clock }), noted };
}

async function read(model: LanguageModel, signal = new AbortController().signal) {
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ messages: [], signal })) events.push(event);
  return events;
}

test('GuardedModel reports the time to the first word, once', async () => {
  const { model, noted } = measured(async function* (clock) {
    clock.advance(120);
    yield { kind: 'text', text: 'Hello' };
    clock.advance(300);
    yield { kind: 'text', text: ' there' };
  });

  const events = await read(model);

  expect(events.length).toBe(2);
  expect(noted).toEqual(['llm ollama/tiny answered in 120']);
});

test('GuardedModel reports a failure and passes it on', async () => {
  const { model, noted } = measured(async function* () {
    yield* [];
    throw new Error('gone');
  });

  await expect(read(model)).rejects.toThrow('gone');

  expect(noted).toEqual(['llm ollama/tiny failed']);
});

test('GuardedModel does not call an abort a failure', async () => {
  const { model, noted } = measured(async function* () {
    yield* [];
    throw new Error('aborted');
  });

  await expect(read(model, AbortSignal.abort())).rejects.toThrow('aborted');

  expect(noted).toEqual([]);
});
