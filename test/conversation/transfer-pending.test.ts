/** A caller whom somebody hands over at a customer's wish, and who is silent meanwhile. */
import { expect, test } from 'vitest';
import type { CallControl } from '../../src/conversation/conversation-port.ts';
import { calls, says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

const SILENCE_MS = 2000;

/** Longer than a greeting, a question whether anybody is there, and the silence after each. */
const LONG_MS = 20_000;

test('Conversation does not end for silence while the caller is handed over', async () => {
  const table = layTable({ silenceTimeoutMs: SILENCE_MS });
  table.conversation.start();
  await table.pass(1000);

  table.conversation.transferPending(true);
  await table.pass(LONG_MS);

  expect(table.end()).toBeUndefined();
  expect(table.transcript()).toEqual(['agent: Hello.']);
});

test('Conversation counts silence anew when nobody took the caller over', async () => {
  const table = layTable({ silenceTimeoutMs: SILENCE_MS });
  table.conversation.start();
  await table.pass(1000);
  table.conversation.transferPending(true);
  await table.pass(LONG_MS);

  table.conversation.transferPending(false);
  await table.pass(SILENCE_MS - 100);
  const early = table.transcript();
  await table.pass(LONG_MS);

  expect(early).toEqual(['agent: Hello.']);
  expect(table.end()).toEqual({ kind: 'timeout', cause: 'silence' });
});

/** A caller who has asked for sales, whose telephone rings on, as long as the test says. */
async function askForSales(ringMs = 85_000) {
  const outcome = Promise.withResolvers<void>();
  const control: CallControl = {
    transfer: () => outcome.promise,
    bringIn: () => outcome.promise,
    sendDigits: () => undefined,
    appointmentBooked: () => undefined,
  };
  const table = layTable({}, { control });
  table.model.answers = [
    [calls('transfer_call', { destination: 'sales' })],
    says('It still rings there.'),
    says('They did not pick up.'),
  ];
  table.conversation.start();
  await table.pass(1000);
  await table.hear('Can I speak to sales?', 1000);
  // What a call does whenever somebody is dialled.
  table.conversation.transferPending(true);
  await table.pass(ringMs);
  return { ...table, outcome };
}

test('Conversation says that it still rings when a hand-over takes longer than the tool, and that nobody came', async () => {
  const { outcome, pass, transcript, model, conversation, end } = await askForSales();
  const meanwhile = transcript().at(-1);

  conversation.transferPending(false);
  outcome.reject(new Error('the far end said 480'));
  await pass(4000);

  expect(meanwhile).toBe('agent: It still rings there.');
  expect(transcript().at(-1)).toBe('agent: They did not pick up.');
  expect(model.requests.at(-1)?.messages.at(-1)?.content).toContain('did not take the call');
  expect(end()).toBeUndefined();
});

test('Conversation says nothing more of a hand-over that is late and succeeds', async () => {
  const { outcome, pass, transcript, conversation } = await askForSales();

  outcome.resolve();
  conversation.stop();
  await pass(4000);

  expect(transcript().at(-1)).toBe('agent: It still rings there.');
});

test.each([
  ['done', 'has worked', 'the other party took the call'],
  ['refused', 'has failed', 'the caller hung up'],
] as const)('Conversation says that the tool was %s when the call is gone before it hears that the hand-over %s', async (outcome, _, why) => {
  const { outcome: handOver, pass, events, conversation } = await askForSales(5000);

  conversation.stop();
  await pass(0);
  const early = events.filter(({ kind }) => kind === 'tool');
  if (outcome === 'done') handOver.resolve();
  else handOver.reject(new Error(why));
  await pass(0);

  expect(early).toEqual([]);
  expect(events.filter(({ kind }) => kind === 'tool')).toMatchObject([
    { name: 'transfer_call', outcome },
  ]);
});
