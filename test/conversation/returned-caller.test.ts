/** A caller who is back from a transfer: what the agent knows and says. */
import { expect, test } from 'vitest';
import { says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

/** A conversation that was stopped by a transfer, after the caller asked for it. */
async function stopped() {
  const table = layTable();
  table.model.answers = [says('I will ask the workshop.')];
  table.conversation.start();
  await table.pass(1000);
  await table.hear('Is my car ready?', 1000);
  await table.pass(5000);
  table.conversation.stop();
  return table;
}

test('Conversation goes on with a caller who is back, and knows what was said and that the transfer is over', async () => {
  const { conversation } = await stopped();
  const table = layTable({}, { before: conversation.soFar });
  table.model.answers = [says('They have hung up. What else can I do?')];

  table.conversation.start();
  await table.pass(4000);

  const asked = table.model.requests[0]?.messages.map(({ content }) => content) ?? [];
  expect(asked.slice(1, 4)).toEqual(['Hello.', 'Is my car ready?', 'I will ask the workshop.']);
  expect(asked.at(-1)).toContain('The transfer is over');
  expect(table.transcript()).toEqual(['agent: They have hung up. What else can I do?']);
});

test('Conversation numbers its replies and turns on from those before the transfer', async () => {
  const { conversation } = await stopped();
  const before = conversation.soFar;
  const table = layTable({}, { before });
  table.model.answers = [says('Hello again.'), says('At nine.')];

  table.conversation.start();
  await table.pass(4000);
  await table.hear('When do you open?', 1000);
  await table.pass(4000);

  const { soFar } = table.conversation;
  expect(table.line.played[0]?.generation).toBe(before.lastReplyId + 1);
  expect([before.turns, soFar.turns]).toEqual([1, 2]);
  expect(soFar.startedAt).toEqual(before.startedAt);
});
