/** A caller whom somebody hands over at a customer's wish, and who is silent meanwhile. */
import { expect, test } from 'vitest';
import { layTable } from './support/table.ts';

const SILENCE_MS = 2000;

/** Longer than a greeting, a question whether anybody is there, and the silence after each. */
const LONG_MS = 20_000;

test('Conversation does not end for silence while the caller is handed over', async () => {
  const table = layTable({ silenceTimeoutMs: SILENCE_MS });
  table.conversation.start();
  await table.pass(1000);

  table.conversation.handingOver(true);
  await table.pass(LONG_MS);

  expect(table.end()).toBeUndefined();
  expect(table.transcript()).toEqual(['agent: Hello.']);
});

test('Conversation counts silence anew when nobody took the caller over', async () => {
  const table = layTable({ silenceTimeoutMs: SILENCE_MS });
  table.conversation.start();
  await table.pass(1000);
  table.conversation.handingOver(true);
  await table.pass(LONG_MS);

  table.conversation.handingOver(false);
  await table.pass(SILENCE_MS - 100);
  const early = table.transcript();
  await table.pass(LONG_MS);

  expect(early).toEqual(['agent: Hello.']);
  expect(table.end()).toEqual({ kind: 'timeout', cause: 'silence' });
});
