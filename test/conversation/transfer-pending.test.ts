/** A silent caller while a transfer is pending. */
import { expect, test } from 'vitest';
import type { CallControl } from '../../src/conversation/conversation-port.ts';
import { calls, says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

const SILENCE_MS = 2000;

/** Longer than a greeting, the check whether the caller is there, and the silence after each. */
const LONG_MS = 20_000;

test('Conversation has no silence time-out while a transfer is pending', async () => {
  const table = layTable({ silenceTimeoutMs: SILENCE_MS });
  table.conversation.start();
  await table.pass(1000);

  table.conversation.transferPending(true);
  await table.pass(LONG_MS);

  expect(table.end()).toBeUndefined();
  expect(table.transcript()).toEqual(['agent: Hello.']);
});

test('Conversation restarts the silence time-out when a transfer was not accepted', async () => {
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

/** A caller who has asked for sales; the telephone of sales rings for `ringMs`. */
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
  // A call reports this whenever it dials a third party.
  table.conversation.transferPending(true);
  await table.pass(ringMs);
  return { ...table, outcome };
}

test('Conversation says that it still rings when a transfer takes longer than the tool, and then that it was not accepted', async () => {
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

test('Conversation says nothing more of a late transfer that succeeds', async () => {
  const { outcome, pass, transcript, conversation } = await askForSales();

  outcome.resolve();
  conversation.stop();
  await pass(4000);

  expect(transcript().at(-1)).toBe('agent: It still rings there.');
});

test.each([
  ['done', 'has worked', 'the other party took the call'],
  ['refused', 'has failed', 'the caller hung up'],
] as const)('Conversation says that the tool was %s when the call ends before it knows that the transfer %s', async (outcome, _, why) => {
  const { outcome: transferred, pass, events, conversation } = await askForSales(5000);

  conversation.stop();
  await pass(0);
  const early = events.filter(({ kind }) => kind === 'tool');
  if (outcome === 'done') transferred.resolve();
  else transferred.reject(new Error(why));
  await pass(0);

  expect(early).toEqual([]);
  expect(events.filter(({ kind }) => kind === 'tool')).toMatchObject([
    { name: 'transfer_call', outcome },
  ]);
});

test('a transfer that was made has no problem on record, although it ends its tool', async () => {
  const control: CallControl = {
    transfer: async () => table.conversation.stop(),
    bringIn: async () => undefined,
    sendDigits: () => undefined,
    appointmentBooked: () => undefined,
  };
  const table = layTable({}, { control });
  table.model.answers = [[calls('transfer_call', { destination: 'sales' })]];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('Can I speak to sales?', 1000);
  await table.pass(5000);

  const [made] = table.events.filter(({ kind }) => kind === 'tool');
  expect(made).toEqual({
    ...{ kind: 'tool', name: 'transfer_call', outcome: 'done' },
    tookMs: expect.any(Number),
  });
});
