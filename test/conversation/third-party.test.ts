/** A third party on the line: what the agent says, and when it stays silent. */
import { expect, test } from 'vitest';
import type { CallControl } from '../../src/conversation/conversation-port.ts';
import { calls, says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

/** A conversation whose greeting has been heard. */
async function begin() {
  const table = layTable();
  table.conversation.start();
  await table.pass(1000);
  return table;
}

const lastAsked = (table: ReturnType<typeof layTable>) =>
  table.model.requests.at(-1)?.messages.map(({ content }) => content) ?? [];

test('Conversation introduces two who have come together, and knows what they hear', async () => {
  const table = await begin();
  table.model.answers = [says('This is Ada, and this is the workshop.')];

  table.conversation.thirdParty(true);
  await table.pass(4000);

  expect(table.transcript().at(-1)).toBe('agent: This is Ada, and this is the workshop.');
  expect(lastAsked(table).at(-1)).toContain('The other party is on the line now');
});

test('Conversation forgets what it was about to say to the caller when another party comes to the line', async () => {
  const table = await begin();
  table.model.answers = [says('We open at nine.'), says('This is Ada.')];

  await table.hear('When do you open?', 1000);
  await table.pass(200);
  const begun = table.model.requests.length;
  table.conversation.thirdParty(true);
  await table.pass(6000);

  expect(begun).toBe(1);
  expect(table.transcript().slice(-2)).toEqual(['user: When do you open?', 'agent: This is Ada.']);
});

test('Conversation asks the model exactly once more after a tool has brought in a third party', async () => {
  const control: CallControl = {
    transfer: () => Promise.reject(new Error('not asked for')),
    bringIn: async () => table.conversation.thirdParty(true),
    sendDigits: () => undefined,
    appointmentBooked: () => undefined,
  };
  const table = layTable({}, { control });
  table.model.answers = [
    [calls('transfer_call', { destination: 'sales', mode: 'three-way' })],
    says('Here is Ada for you.'),
  ];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('Can we speak to sales together?', 1000);
  await table.pass(6000);

  expect(table.model.requests).toHaveLength(2);
  expect(table.transcript().at(-1)).toBe('agent: Here is Ada for you.');
  expect(table.end()).toBeUndefined();
});

test('Conversation says nothing, and no apology, to what two others say to each other', async () => {
  const table = await begin();
  table.model.answers = [says('This is Ada.'), says('…'), says('It costs ten euros.')];
  table.conversation.thirdParty(true);
  await table.pass(4000);

  await table.hear('Did you bring the car yourself?', 1500);
  await table.pass(8000);
  const quiet = table.transcript();
  await table.hear('What does it cost?', 1000);
  await table.pass(4000);

  expect(quiet.slice(-2)).toEqual(['agent: This is Ada.', 'user: Did you bring the car yourself?']);
  expect(table.transcript().at(-1)).toBe('agent: It costs ten euros.');
});

test('Conversation asks the model no second time when it had nothing to say before the turn was over', async () => {
  const table = await begin();
  table.model.answers = [says('This is Ada.'), says('…'), says('What I should not say.')];
  table.conversation.thirdParty(true);
  await table.pass(4000);

  await table.hear('So you brought the car and', 1500);
  await table.pass(8000);

  expect(table.model.requests).toHaveLength(2);
  expect(table.transcript().at(-1)).toBe('user: So you brought the car and');
});

test('Conversation has to answer again once the other party is gone', async () => {
  const table = await begin();
  table.model.answers = [says('This is Ada.'), says('They are gone.'), says('…')];
  table.conversation.thirdParty(true);
  await table.pass(4000);

  table.conversation.thirdParty(false);
  await table.pass(4000);
  const told = table.transcript().at(-1);
  await table.hear('Are you there?', 1000);
  await table.pass(6000);

  expect(told).toBe('agent: They are gone.');
  expect(table.transcript().at(-1)).toMatch(/^agent: .*sorry/i);
});

test('Conversation is told to keep silent also when the two have talked for so long that the first of it is forgotten', async () => {
  const table = await begin();
  table.model.answers = Array.from({ length: 13 }, () => says('…'));
  table.conversation.thirdParty(true);
  await table.pass(4000);
  const [before] = lastAsked(table);

  for (let turn = 0; turn < 12; turn += 1) {
    await table.hear(`Then ${'the car went on '.repeat(30)} until ${turn}.`, 1500);
    await table.pass(8000);
  }
  const [meanwhile, ...rest] = lastAsked(table);
  table.model.answers = [says('They are gone.')];
  table.conversation.thirdParty(false);
  await table.pass(4000);
  const [after] = lastAsked(table);

  expect(rest.join()).not.toContain('nothing but "…"');
  expect(meanwhile).toContain('nothing but "…"');
  expect([before, after].filter((system) => system?.includes('nothing but'))).toEqual([]);
});

test('Conversation greets a person who has taken the place of the caller', async () => {
  const table = await begin();
  table.model.answers = [says('Hello, this is Ada. Who am I speaking to?')];

  table.conversation.farEndMoved();
  await table.pass(4000);

  expect(table.transcript().at(-1)).toBe('agent: Hello, this is Ada. Who am I speaking to?');
  expect(lastAsked(table).at(-1)).toContain('another person is on the line now');
});
