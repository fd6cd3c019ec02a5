/** Reading prompts ahead, while callers who wait for an answer go first. */
import { expect, test } from 'vitest';
import { UNCOUNTED, type WarmResult } from '../../src/lib/metrics/model-metrics.ts';
import type { LanguageModel, ModelRequest } from '../../src/llm/language-model.ts';
import { PrefixWarming } from '../../src/llm/prefix-warming.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { requestOf } from './language-model.contract.ts';

/** Reads until it is let go, or aborted. */
class SlowReader implements LanguageModel {
  readonly name = 'slow';
  readonly prefixes: ModelRequest[] = [];
  readonly reading = Promise.withResolvers<boolean>();

  async *stream() {
    yield* [];
  }

  warm(prefix: ModelRequest): Promise<boolean> {
    this.prefixes.push(prefix);
    const aborted = Promise.withResolvers<never>();
    prefix.signal.addEventListener('abort', () => aborted.reject(prefix.signal.reason));
    return Promise.race([this.reading.promise, aborted.promise]);
  }

  check(): Promise<void> {
    return Promise.resolve();
  }
}

function openWarming() {
  const clock = new FakeClock();
  const results: WarmResult[] = [];
  const counts = { ...UNCOUNTED, prefixWarmed: (result: WarmResult) => results.push(result) };
  return { clock, results, model: new SlowReader(), warming: new PrefixWarming({ clock, counts }) };
}

test('PrefixWarming has the model read the prefix, and counts it', async () => {
  const { model, results, warming } = openWarming();

  const isWarm = warming.warm(model, requestOf('Hello.'));
  model.reading.resolve(true);

  expect(await isWarm).toBe(true);
  expect(results).toEqual(['done']);
  expect(model.prefixes).toHaveLength(1);
});

test('PrefixWarming reads no more than two prefixes at once', async () => {
  const { model, results, warming } = openWarming();

  const all = [1, 2, 3].map(() => warming.warm(model, requestOf('Hello.')));
  model.reading.resolve(true);

  expect(await Promise.all(all)).toEqual([true, true, false]);
  expect(results).toEqual(['skipped', 'done', 'done']);
});

test('PrefixWarming reads nothing while two callers wait for answers, and reads again afterwards', async () => {
  const { model, results, warming } = openWarming();
  model.reading.resolve(true);
  const answers = [warming.answerBegins(), warming.answerBegins()];

  const whileBusy = await warming.warm(model, requestOf('Hello.'));
  for (const end of answers) end();
  const afterwards = await warming.warm(model, requestOf('Hello.'));

  expect([whileBusy, afterwards]).toEqual([false, true]);
  expect(results).toEqual(['skipped', 'done']);
});

test('PrefixWarming stops at once when it is aborted', async () => {
  const { model, results, warming } = openWarming();
  const controller = new AbortController();

  const isWarm = warming.warm(model, requestOf('Hello.', { signal: controller.signal }));
  controller.abort(new Error('the caller speaks'));

  expect(await isWarm).toBe(false);
  expect(results).toEqual(['aborted']);
});

test('PrefixWarming gives up after 20 s, and has room for another one then', async () => {
  const { clock, model, results, warming } = openWarming();

  const all = [1, 2].map(() => warming.warm(model, requestOf('Hello.')));
  clock.advance(20_000);

  expect(await Promise.all(all)).toEqual([false, false]);
  expect(results).toEqual(['failed', 'failed']);
  model.reading.resolve(true);
  expect(await warming.warm(model, requestOf('Hello.'))).toBe(true);
});
