/** What the model reads while the greeting plays. */
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../src/llm/language-model.ts';
import { says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

function layWarmTable() {
  const table = layTable();
  const prefixes: ModelRequest[] = [];
  const warm = (prefix: ModelRequest) => {
    prefixes.push(prefix);
    return new Promise<boolean>(() => undefined);
  };
  Object.assign(table.model, { warm });
  return { table, prefixes };
}

test('Conversation has the model read what the first request begins with, from its start to the first question', async () => {
  const { table, prefixes } = layWarmTable();
  table.model.answers = [says('At nine.')];

  table.conversation.start();
  await table.pass(1000);
  const wasReading = prefixes[0]?.signal.aborted === false;
  await table.hear('When do you open?', 1500);
  await table.pass(3000);

  const [prefix] = prefixes;
  const [request] = table.model.requests;
  expect(prefixes).toHaveLength(1);
  expect(wasReading).toBe(true);
  expect(prefix?.messages.map(({ role }) => role)).toEqual(['system', 'assistant']);
  expect(request?.messages.slice(0, 2)).toEqual(prefix?.messages);
  expect(request?.tools).toEqual(prefix?.tools);
  expect(prefix?.signal.aborted).toBe(true);
});

test('Conversation stops the reading when the call is over', async () => {
  const { table, prefixes } = layWarmTable();
  table.conversation.start();
  await table.pass(100);

  table.conversation.stop();

  expect(prefixes[0]?.signal.aborted).toBe(true);
});
