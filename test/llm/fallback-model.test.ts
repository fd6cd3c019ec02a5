/** Several models in order of preference, and the setting that names them. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { UNCOUNTED } from '../../src/lib/metrics/model-metrics.ts';
import {
  chooseLanguageModel,
  FallbackModel,
  parseLanguageModelOrder,
} from '../../src/llm/fallback-model.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from '../../src/llm/language-model.ts';
import { OllamaModel } from '../../src/llm/ollama/ollama-model.ts';
import { defaultRuleBook } from '../../src/llm/scripted/default-rules.ts';
import { ScriptedModel } from '../../src/llm/scripted/scripted-model.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { collect, describeLanguageModel, requestOf, textOf } from './language-model.contract.ts';
import { startModelServer } from './support/model-server.ts';
import { ollamaWire } from './support/wires.ts';

class StubModel implements LanguageModel {
  readonly name: string;
  asked = 0;
  /** Thrown after the words of `says`, if there is one. */
  failure: Error | undefined;
  says: readonly string[];

  constructor(name: string, says: readonly string[], failure?: Error) {
    this.name = name;
    this.says = says;
    this.failure = failure;
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    this.asked += 1;
    for (const text of this.says) {
      request.signal.throwIfAborted();
      yield { kind: 'text', text };
    }
    if (this.failure) throw this.failure;
  }

  check(): Promise<void> {
    return this.failure ? Promise.reject(this.failure) : Promise.resolve();
  }
}

const down = () => new LanguageModelError('Cannot reach it: nothing listens there');

function twoModels() {
  const clock = new FakeClock();
  const first = new StubModel('first', [], down());
  const second = new StubModel('second', ['second ', 'answers']);
  const model = new FallbackModel({ models: [first, second], clock, log: silentLogger });
  return { clock, first, second, model };
}

describeLanguageModel(
  'FallbackModel',
  () =>
    new FallbackModel({
      models: [new StubModel('down', [], down()), new ScriptedModel({ book: defaultRuleBook() })],
      clock: new FakeClock(),
      log: silentLogger,
    }),
);

test('FallbackModel lets the next model answer when the first one fails before its first word', async () => {
  const { model } = twoModels();

  expect(textOf(await collect(model.stream(requestOf('Hello.'))))).toBe('second answers');
});

test('FallbackModel probes a failed model in the background, less and less often, and no caller waits for it', async () => {
  const { clock, first, model } = twoModels();

  await collect(model.stream(requestOf('Hello.')));
  const probedAtMs: number[] = [];
  const startMs = clock.nowMs();
  for (let second = 0; second < 40; second += 1) {
    const before = first.asked;
    await clock.pass(1000);
    if (first.asked > before) probedAtMs.push(clock.nowMs() - startMs);
    await collect(model.stream(requestOf('Hello.')));
  }
  expect(probedAtMs).toEqual([2000, 6000, 14_000, 30_000]);

  first.failure = undefined;
  first.says = ['first ', 'answers'];
  await clock.pass(32_000);
  expect(textOf(await collect(model.stream(requestOf('Hello.'))))).toBe('first answers');
  expect(clock.waiting).toBe(0);
});

test('FallbackModel keeps a model for others that has refused one request, until it refuses a probe too', async () => {
  const { clock, first, second, model } = twoModels();
  first.failure = new LanguageModelError('it answered 400', { isOfRequest: true });

  const refused = await collect(model.stream(requestOf('Hello')));
  const whenRefused = model.name;
  await clock.pass(2000);

  expect(textOf(refused)).toBe('second answers');
  expect([whenRefused, model.name]).toEqual(['first', 'second']);
  expect(second.asked).toBe(1);
});

test('FallbackModel counts callers who fail together as one fault', async () => {
  const { clock, first, model } = twoModels();

  await Promise.all(Array.from({ length: 10 }, () => collect(model.stream(requestOf('Hello.')))));
  first.failure = undefined;
  await clock.pass(2000);

  expect(model.name).toBe('first');
});

test('FallbackModel takes a server that hung up again once it answers, not once it lists its models', async () => {
  const server = await startModelServer(ollamaWire);
  server.behaviour = 'hang';
  const clock = new FakeClock();
  const limits = { firstMs: 200, nextMs: 200 };
  const ollama = new OllamaModel({ host: server.url, model: 'qwen3:4b', limits });
  const parts = { clock, log: silentLogger, mayWarm: false };
  const model = new FallbackModel({
    ...{ models: [ollama, new StubModel('second', ['second answers'])], ...parts },
  });
  const failed = await collect(model.stream(requestOf('Hello.')));
  await clock.pass(2000);
  await model.check();
  const whileItHangs = model.name;

  server.behaviour = 'answer';
  await expect
    .poll(() => clock.pass(4000).then(() => model.name), { timeout: 10_000 })
    .toBe('ollama/qwen3:4b');
  await model.stop();
  await server.stop();
  expect([textOf(failed), whileItHangs]).toEqual(['second answers', 'second']);
});

test('FallbackModel does not believe the check of a model that failed a caller', async () => {
  const { clock, first, model } = twoModels();
  first.check = () => Promise.resolve();

  await collect(model.stream(requestOf('Hello.')));
  await model.check();
  expect(model.name).toBe('second');

  await model.stop();
  expect(clock.waiting).toBe(0);
});

test('FallbackModel does not change models in the middle of an answer', async () => {
  const { first, second, model } = twoModels();
  first.says = ['We '];

  await expect(collect(model.stream(requestOf('Hello.')))).rejects.toThrow('Cannot reach it');
  expect(second.asked).toBe(0);
});

test('FallbackModel holds no abort of a caller against a model', async () => {
  const { first, second, model } = twoModels();
  first.failure = undefined;
  first.says = ['a', 'b'];
  const signal = AbortSignal.abort(new Error('interrupted'));

  await expect(collect(model.stream(requestOf('Hello.', { signal })))).rejects.toThrow(
    'interrupted',
  );
  expect(second.asked).toBe(0);
  expect(model.name).toBe('first');
});

test('FallbackModel reports which model answers and why', async () => {
  const { first, clock, model } = twoModels();

  await model.check();
  const whileDown = model.report();
  first.failure = undefined;
  clock.advance(1000);
  await model.check();

  expect(whileDown).toEqual({
    job: 'llm',
    engine: 'second',
    reason: 'Cannot reach it: nothing listens there',
    isFallback: true,
    standIn: 'second_choice',
    replacement: { engine: 'first', how: 'Cannot reach it: nothing listens there' },
  });
  expect(model.report()).toEqual({
    job: 'llm',
    engine: 'first',
    reason: 'first of the order in LLM',
    isFallback: false,
  });
});

test.each([
  ['where the model of the order cannot be used', true],
  ['where it was chosen', false],
])('FallbackModel reports a model that ignores prompts as a rule book %s', async (_case, isFallback) => {
  const { first, second, clock } = twoModels();
  Object.assign(second, { ignoresPrompts: true });
  const models = isFallback ? [first, second] : [second];
  const model = new FallbackModel({ models, clock, log: silentLogger });

  await model.check();

  expect(model.report()).toMatchObject({ engine: 'second', isFallback, standIn: 'rule_book' });
});

test('FallbackModel tries the models all the same when every one of them has failed', async () => {
  const { first, second, model } = twoModels();
  second.failure = down();

  await expect(model.check()).rejects.toThrow('Cannot use any language model');
  first.failure = undefined;
  first.says = ['Back.'];

  expect(textOf(await collect(model.stream(requestOf('Hello.'))))).toBe('Back.');
});

test('FallbackModel lets the next model answer in the same turn when a server hangs, and counts it', async () => {
  const server = await startModelServer(ollamaWire);
  server.behaviour = 'hang';
  const fellBack: string[] = [];
  const limits = { firstMs: 50, nextMs: 50 };
  const model = new FallbackModel({
    models: [
      new OllamaModel({ host: server.url, model: 'qwen3:4b', limits }),
      new StubModel('second', ['second ', 'answers']),
    ],
    clock: new FakeClock(),
    log: silentLogger,
    counts: { ...UNCOUNTED, fellBack: (engine) => fellBack.push(engine) },
  });

  const answer = textOf(await collect(model.stream(requestOf('Hello.'))));

  await server.stop();
  expect(answer).toBe('second answers');
  expect(fellBack).toEqual(['ollama/qwen3:4b']);
});

test('FallbackModel has the smallest window of its models, and none where none has one', () => {
  const { first, second, model } = twoModels();
  const before = model.contextTokens;

  Object.assign(first, { contextTokens: 8192 });
  Object.assign(second, { contextTokens: 4096 });

  expect([before, model.contextTokens]).toEqual([undefined, 4096]);
});

test.each([
  ['auto', ['ollama', 'scripted']],
  ['scripted', ['scripted']],
  [' OpenAI , scripted, openai', ['openai', 'scripted']],
  ['llama-cpp,scripted', ['llama-cpp', 'scripted']],
])('parseLanguageModelOrder reads "%s"', (setting, expected) => {
  expect(parseLanguageModelOrder(setting)).toEqual(expected);
});

test.each([
  '',
  'gpt',
  'auto,ollama',
  'ollama,,scripted',
])('parseLanguageModelOrder refuses "%s" and says what it expects', (setting) => {
  expect(() => parseLanguageModelOrder(setting)).toThrow(
    /^Cannot use language model ".*": expected auto or a list out of ollama, openai, llama-cpp, scripted$/,
  );
});

test('chooseLanguageModel makes only the engines that are named', async () => {
  const made: string[] = [];
  const make = (name: string) => async () => {
    made.push(name);
    return new StubModel(name, []);
  };

  const model = await chooseLanguageModel({
    setting: 'scripted',
    makers: {
      ...{ ollama: make('ollama'), openai: make('openai') },
      ...{ 'llama-cpp': make('llama-cpp'), scripted: make('scripted') },
    },
    clock: new FakeClock(),
    log: silentLogger,
  });

  expect(made).toEqual(['scripted']);
  expect(model.report()).toMatchObject({ engine: 'scripted', isFallback: false });
});

test('ignoresPrompts is that of the model that answers: the rule book after the first one failed', async () => {
  const { model, second } = twoModels();
  Object.assign(second, { ignoresPrompts: true });
  const before = model.ignoresPrompts;

  await collect(model.stream(requestOf('Hello.')));

  expect([before, model.ignoresPrompts]).toEqual([false, true]);
});

test('FallbackModel has a problem from the answer on that the last of its models failed', async () => {
  const { model, second } = twoModels();
  second.failure = new LanguageModelError('it is gone too');
  const before = model.problem;

  await expect(collect(model.stream(requestOf('Hello.')))).rejects.toThrow('it is gone too');
  const failing = model.problem;
  second.failure = undefined;
  await collect(model.stream(requestOf('Hello.')));

  expect(before).toBeUndefined();
  expect(failing).toMatch(/^Cannot use any language model: .*; it is gone too$/);
  expect(model.problem).toBeUndefined();
});

test('FallbackModel names no next model in the log where the last one fails', async () => {
  const warnings: unknown[] = [];
  const log = { ...silentLogger, warn: (...line: unknown[]) => void warnings.push(line) };
  const only = new StubModel('only', []);
  const model = new FallbackModel({ models: [only], clock: new FakeClock(), log });
  await model.check();
  only.failure = new LanguageModelError('it is gone');

  await expect(collect(model.stream(requestOf('Hello.')))).rejects.toThrow('it is gone');

  expect(warnings).toEqual([
    [{ model: 'only', reason: 'it is gone' }, 'last language model failed'],
  ]);
});
