/** The embedded engine with the real library and a real GGUF file of random weights, where the library is installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { ChatMessage, ModelUsage } from '../../src/llm/language-model.ts';
import { LlamaCppModel } from '../../src/llm/llama-cpp/llama-cpp-model.ts';
import { installCommand } from '../../src/llm/llama-cpp/llama-program.ts';
import { childrenOf } from '../support/server/processes.ts';
import { collect, requestOf, TRANSFER, textOf } from './language-model.contract.ts';

const MODELS = join(import.meta.dirname, '../../models');
const FOLDER = join(MODELS, 'llama-cpp');
const IS_INSTALLED = existsSync(join(FOLDER, 'node_modules/node-llama-cpp'));
const NAME = 'LlamaCppModel with the real library';

const model = new LlamaCppModel({
  order: {
    folder: FOLDER,
    file: join(MODELS, 'tiny/llm/tiny.gguf'),
    contextTokens: 8192,
    sequences: 2,
  },
  clock: systemClock,
  log: silentLogger,
  limits: { firstMs: 15_000, nextMs: 15_000 },
});

const SCHEMA = {
  type: 'object',
  properties: { intent: { type: 'string', enum: ['booking', 'other'] } },
  required: ['intent'],
  additionalProperties: false,
};

/** Random weights stop when they like; a grammar of one sentence keeps them at it. */
const LONG = 'we open at nine and close at five, and on Sundays not at all; '.repeat(4);
const LONG_ANSWER = {
  type: 'object',
  properties: { words: { type: 'string', enum: [LONG] } },
  required: ['words'],
  additionalProperties: false,
};

afterAll(() => model.stop());

if (IS_INSTALLED) {
  describe(NAME, realTests);
} else {
  const note = `skipped: needs node-llama-cpp; run "${installCommand('models/llama-cpp')}"`;
  process.stderr.write(`${note} (${NAME})\n`);
  describe(NAME, () => {
    test(note, ({ skip }) => skip(note));
  });
}

function realTests(): void {
  beforeAll(() => model.load(), 20_000);

  test('loads the file, and takes no more window than the model has', async () => {
    await expect(model.check()).resolves.toBeUndefined();
    expect(model.contextTokens).toBe(2048);
  });

  test('streams in pieces', async () => {
    const events = await collect(model.stream(requestOf('Hello.', { schema: LONG_ANSWER })));

    expect(events.length).toBeGreaterThan(20);
    expect(JSON.parse(textOf(events))).toEqual({ words: LONG });
  });

  test('obeys a schema, even with weights that know nothing', async () => {
    const usages: ModelUsage[] = [];
    const onUsage = (usage: ModelUsage) => usages.push(usage);

    const events = await collect(model.stream(requestOf('Hello.', { schema: SCHEMA, onUsage })));

    expect(['booking', 'other']).toContain(JSON.parse(textOf(events)).intent);
    // The vocabulary is letters: a token is a character, and the template adds some.
    expect(usages[0]?.promptTokens).toBeGreaterThan('You are a receptionist.Hello.'.length);
    expect(usages[0]?.promptTokens).toBeLessThan(120);
  });

  test('is silent at once when it is aborted, and answers the next question', async () => {
    const abort = new AbortController();
    const pieces: number[] = [];
    const request = requestOf('Hello.', { signal: abort.signal, schema: LONG_ANSWER });
    let abortedAtMs = 0;

    const answer = (async () => {
      for await (const _ of model.stream(request)) {
        pieces.push(performance.now());
        if (pieces.length < 5) continue;
        abortedAtMs = performance.now();
        abort.abort(new Error('interrupted'));
      }
    })();

    await expect(answer).rejects.toThrow('interrupted');
    expect(performance.now() - abortedAtMs).toBeLessThan(200);
    expect(pieces).toHaveLength(5);
    const next = await collect(model.stream(requestOf('And now?', { schema: SCHEMA })));
    expect(textOf(next)).toContain('intent');
  });

  test('answers two calls at the same time', async () => {
    const order: string[] = [];

    const answers = ['one', 'two'].map(async (name) => {
      const request = requestOf(name, { schema: LONG_ANSWER });
      for await (const _ of model.stream(request)) order.push(name);
    });
    await Promise.all(answers);

    expect(order.lastIndexOf('one')).toBeGreaterThan(order.indexOf('two'));
    expect(order.lastIndexOf('two')).toBeGreaterThan(order.indexOf('one'));
  });

  test('reads a prefix with its tools ahead, and goes on from there', async () => {
    const messages: ChatMessage[] = [
      { role: 'system', content: 'You are a receptionist.' },
      { role: 'assistant', content: 'Hello.' },
    ];
    const { signal } = new AbortController();

    await expect(model.warm({ messages, tools: [TRANSFER], signal })).resolves.toBe(true);
    await expect(promptTokensOf(messages)).resolves.toBeGreaterThan(20);
  });

  test('reads tool calls and their results in the history', async () => {
    const call = { id: 'a', name: 'transfer_call', arguments: { destination: 'sales' } };
    const messages: ChatMessage[] = [
      { role: 'user', content: 'A person, please.' },
      { role: 'assistant', content: 'One moment.', toolCalls: [call] },
      { role: 'tool', toolCallId: 'a', name: 'transfer_call', content: 'Not done.' },
    ];

    const withoutResult = messages.slice(0, 2);

    const longer = await promptTokensOf(messages);
    expect(longer - (await promptTokensOf(withoutResult))).toBeGreaterThanOrEqual(
      'Not done.'.length,
    );
  });

  test('survives a killed process: the answer fails, the server lives', async () => {
    const [child] = childrenOf(process.pid).filter(({ commandLine }) =>
      commandLine.includes('llama-child'),
    );

    const answer = collect(model.stream(requestOf('Hello.', { schema: LONG_ANSWER })));
    await new Promise((resolve) => setImmediate(resolve));
    process.kill(child?.pid ?? 0, 'SIGKILL');

    await expect(answer).rejects.toThrow('its process ended with signal SIGKILL');
  });
}

/** How long the library finds a prompt with a tool in it; what random weights answer is left alone. */
async function promptTokensOf(messages: readonly ChatMessage[]): Promise<number> {
  const usages: ModelUsage[] = [];
  const { signal } = new AbortController();
  const onUsage = (usage: ModelUsage) => usages.push(usage);
  await collect(model.stream({ messages, tools: [TRANSFER], signal, onUsage }));
  return usages[0]?.promptTokens ?? 0;
}
