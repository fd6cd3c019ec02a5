/** The embedded engine: its process, its messages and its failures, with a stand-in for the native library. */
import { rmSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { LanguageModelError } from '../../src/llm/language-model.ts';
import { LlamaCppModel } from '../../src/llm/llama-cpp/llama-cpp-model.ts';
import { LlamaSlots, toChatItems } from '../../src/llm/llama-cpp/llama-engine.ts';
import { installCommand } from '../../src/llm/llama-cpp/llama-program.ts';
import {
  collect,
  describeLanguageModel,
  QUESTION,
  requestOf,
  TRANSFER,
  textOf,
} from './language-model.contract.ts';
import { installFakeLlama } from './support/fake-llama.ts';

const folders: string[] = [];
const opened: LlamaCppModel[] = [];

function openModel(options: { readonly weights?: string; readonly folder?: string } = {}) {
  const { folder, file } = installFakeLlama(options.weights);
  folders.push(folder);
  const order = { folder: options.folder ?? folder, file, contextTokens: 8192, sequences: 2 };
  // A process that starts on a busy machine takes its time.
  const limits = { firstMs: 15_000, nextMs: 15_000 };
  const model = new LlamaCppModel({ order, clock: systemClock, log: silentLogger, limits });
  opened.push(model);
  return model;
}

const shared = openModel();

afterAll(async () => {
  await Promise.all(opened.map((model) => model.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describeLanguageModel('LlamaCppModel', () => shared);

test('LlamaCppModel tells the length of the prompt, without the answer', async () => {
  const tokens: number[] = [];

  const onUsage = ({ promptTokens }: { readonly promptTokens: number }) =>
    tokens.push(promptTokens);
  const { messages } = requestOf(QUESTION);
  await collect(shared.stream(requestOf(QUESTION, { onUsage })));

  expect(tokens).toEqual([JSON.stringify(toChatItems(messages)).length]);
});

test('LlamaCppModel has no larger window than its model', async () => {
  await shared.load();

  expect(shared.contextTokens).toBe(2048);
});

test('LlamaCppModel reads a prefix ahead', async () => {
  await expect(shared.warm(requestOf(QUESTION, { tools: [TRANSFER] }))).resolves.toBe(true);
});

test('LlamaCppModel shows the model its tool calls with their results', async () => {
  const call = { id: 'a', name: 'transfer_call', arguments: { destination: 'sales' } };

  const answer = await collect(
    shared.stream({
      messages: [
        { role: 'user', content: 'Say what was said.' },
        { role: 'assistant', content: 'One moment.', toolCalls: [call] },
        { role: 'tool', toolCallId: 'a', name: 'transfer_call', content: 'Not done.' },
      ],
      signal: new AbortController().signal,
    }),
  );

  const { name, arguments: params } = call;
  expect(JSON.parse(textOf(answer))).toEqual([
    { type: 'user', text: 'Say what was said.' },
    {
      type: 'model',
      response: ['One moment.', { type: 'functionCall', name, params, result: 'Not done.' }],
    },
  ]);
});

test('LlamaCppModel lets go of a question that is aborted, and of its memory', async () => {
  const aborts = [1, 2, 3].map(() => new AbortController());
  const begun = Promise.withResolvers<void>();
  let first = 0;

  // Two memories, three callers: the third waits for one of them.
  const answers = aborts.map(async ({ signal }) => {
    for await (const _ of shared.stream(requestOf('Please hang on.', { signal }))) {
      first += 1;
      if (first === 2) begun.resolve();
    }
  });
  await begun.promise;
  for (const abort of aborts) abort.abort(new Error('interrupted'));

  const results = await Promise.allSettled(answers);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(textOf(await collect(shared.stream(requestOf(QUESTION))))).toBe('We open at nine.');
});

test('LlamaCppModel survives the death of its process: the answer fails, and it says why until it has rested', async () => {
  const model = openModel();

  const answer = collect(model.stream(requestOf('Let it crash.')));

  await expect(answer).rejects.toThrow(LanguageModelError);
  await expect(answer).rejects.toThrow('its process ended with signal SIGKILL');
  await expect(model.check()).rejects.toThrow('its process ended with signal SIGKILL');
});

test('LlamaCppModel names the command that installs what is missing', async () => {
  const model = openModel({ folder: '/nowhere' });

  await expect(model.load()).rejects.toThrow(
    `Cannot use "llama-cpp/fake": node-llama-cpp is not installed; run "${installCommand('/nowhere')}"`,
  );
  expect(installCommand('/nowhere')).toMatch(
    /^npm install --prefix \/nowhere --omit=optional --ignore-scripts node-llama-cpp@3\.22\.1 @node-llama-cpp\/[\w-]+@3\.22\.1$/,
  );
});

test('LlamaCppModel names the file that is missing or damaged, and what is wrong with it', async () => {
  const damaged = openModel({ weights: 'damaged.gguf' });
  const missing = openModel({ weights: 'gone.gguf' });
  rmSync(folders.at(-1) ?? '', { recursive: true });
  folders.pop();

  await expect(damaged.load()).rejects.toThrow('Cannot use "llama-cpp/damaged": not a GGUF file');
  await expect(missing.load()).rejects.toThrow(
    /^Cannot use "llama-cpp\/gone": there is no file ".*gone\.gguf"; put a GGUF model there$/,
  );
});

test('LlamaCppModel stops twice, and answers nothing afterwards', async () => {
  const model = openModel();
  await model.load();

  await Promise.all([model.stop(), model.stop()]);

  await expect(collect(model.stream(requestOf(QUESTION)))).rejects.toThrow('the server stops');
});

test('LlamaSlots gives each call back the memory that knows it, and a new call the one that rested longest', async () => {
  const slots = new LlamaSlots(['one', 'two', 'three']);
  const ask = (keys: string[]) => {
    const slot = slots.takeFree(keys);
    if (slot !== undefined) slots.release(slot);
    return slot?.seat;
  };

  const first = [ask(['a', '1']), ask(['b', '1']), ask(['c', '1'])];
  const again = [ask(['b', '1', '2']), ask(['a', '1', '2'])];
  const fresh = ask(['d', '1']);

  expect(first).toEqual(['one', 'two', 'three']);
  expect(again).toEqual(['two', 'one']);
  expect(fresh).toBe('three');
});

test('LlamaSlots lets only so many wait', async () => {
  const slots = new LlamaSlots(['one']);
  const { signal } = new AbortController();
  const taken = await slots.take(['a'], signal);

  const waiting = Array.from({ length: 17 }, () => slots.take(['b'], signal).catch(String));
  const last = await waiting.at(-1);
  slots.release(taken);

  expect(last).toBe('Error: too many calls wait for it');
  expect(await waiting[0]).toMatchObject({ seat: 'one' });
});

test('toChatItems gives each call its own result, though ids repeat after a restart of the process', () => {
  const booking = (content: string) =>
    [
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'call_1', name: 'book', arguments: {} }],
      },
      { role: 'tool', toolCallId: 'call_1', name: 'book', content },
    ] as const;

  const items = toChatItems([...booking('Full.'), ...booking('Booked.')]);

  expect(items).toMatchObject([
    { type: 'model', response: [{ result: 'Full.' }, { result: 'Booked.' }] },
  ]);
});
