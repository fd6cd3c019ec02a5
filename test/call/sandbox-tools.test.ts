/** Tools of the agent in simulated calls: messages, card numbers and the customer's own. */
import { expect, test } from 'vitest';
import { exampleOf } from '../../src/call/sandbox/sandbox-rules.ts';
import type { PassageSearch } from '../../src/domain/knowledge/knowledge.ts';
import { SANDBOX_CARD } from '../../src/domain/sandbox-scenario.ts';
import { argumentFaults } from '../../src/domain/tool/argument-schema.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { openSandboxWorld } from './support/sandbox-world.ts';

const CALLER = '+15005550110';

async function rungIn(
  scenario: string,
  options: { readonly ownTools?: readonly Tool[]; readonly knowledge?: PassageSearch } = {},
) {
  const world = await openSandboxWorld(options);
  const id = await world.queue({ direction: 'inbound', from: CALLER, scenario });
  world.sandbox.start();
  await world.untilOver(id);
  const words = (await world.store.calls.transcript(id)).map(({ text }) => text);
  const timeline = await world.store.calls.timeline(id);
  const tools = timeline.filter(({ kind }) => kind === 'tool').map(({ details }) => details);
  return { world, id, words, timeline, tools, call: await world.call(id) };
}

const lookUp = (name: string, asked: object[], text = 'It ships on Friday.'): Tool => ({
  isAfterWords: false,
  description: {
    name,
    description: 'Looks something up.',
    parameters: {
      type: 'object',
      properties: { orderId: { type: 'string', maxLength: 20 }, note: { type: 'string' } },
      required: ['orderId'],
    },
  },
  run: async (args) => {
    asked.push(args);
    return { text, isDone: true };
  },
});

test('the party that wants a message gets one, which the call shows as delivered, every time', async () => {
  const { call, id, timeline, tools, words, world } = await rungIn('message');
  for (let index = 0; index < 6; index += 1) {
    const again = await world.queue({ direction: 'inbound', from: CALLER, scenario: 'message' });
    await world.untilOver(again);
    expect(await world.store.smsMessages.ofCall(again)).toHaveLength(1);
  }

  expect(call).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(await world.store.smsMessages.ofCall(id)).toMatchObject([
    ...[{ to: CALLER, text: 'Our address: Market Square 12.', status: 'delivered' }],
  ]);
  expect(tools).toMatchObject([{ name: 'send_sms', outcome: 'done' }]);
  expect(timeline).toContainEqual(
    expect.objectContaining({ details: expect.objectContaining({ status: 'delivered' }) }),
  );
  expect(words).toContain('The message is on its way. Has it arrived?');
});

test('the party that pays by card types its number, of which no digit is kept', async () => {
  const { call, tools, words } = await rungIn('card_number');

  expect(call).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(tools).toMatchObject([{ name: 'collect_digits', outcome: 'done' }]);
  expect(words).toContain('(pressed 16 keys, not kept)');
  expect(words).toContain('Thank you, the number is complete.');
  expect(JSON.stringify([words, call])).not.toContain(SANDBOX_CARD);
});

test('the party that has things looked up has each of the customer’s tools used once, with arguments of its schema', async () => {
  const asked: object[] = [];
  const ownTools = [lookUp('order_status', asked), lookUp('shop_find_order', asked)];

  const { call, tools, words } = await rungIn('own_tools', { ownTools });

  expect(call).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  expect(asked).toEqual([{ orderId: 'example' }, { orderId: 'example' }]);
  expect(tools).toMatchObject([
    { name: 'order_status', outcome: 'done' },
    { name: 'shop_find_order', outcome: 'done' },
  ]);
  expect(words).toContain('I have looked that up for you. What else can I do?');
});

test('without tools of the customer there is nothing to look up with, and no other party has them used', async () => {
  const asked: object[] = [];

  const without = await rungIn('own_tools');
  const friendly = await rungIn('friendly', { ownTools: [lookUp('order_status', asked)] });

  expect([without.tools, friendly.tools, asked]).toEqual([[], [], []]);
  expect(without.call.endReason).toBe('user_hangup');
});

test('what the party asks is looked up in the documents of the agent, and the timeline names the passage', async () => {
  const passage = {
    documentName: 'hours',
    version: 2,
    number: 1,
    heading: '',
    text: 'Nine to five.',
  };
  const find = async (question: string) => (question.includes('opening hours') ? [passage] : []);

  const { timeline } = await rungIn('friendly', { knowledge: { find } });

  expect(timeline.filter(({ kind }) => kind === 'knowledge')).toMatchObject([
    { details: { sources: [expect.objectContaining({ version: 2 })] } },
  ]);
});

test.each([
  [{ type: 'string', minLength: 10, maxLength: 12 }],
  [{ type: 'string', enum: ['red', 'green'] }],
  [{ type: 'integer', minimum: 5, maximum: 9 }],
  [{ type: 'number', maximum: 0.5 }],
  [{ type: 'boolean' }],
  [{ type: 'array', minItems: 2, items: { type: 'string' } }],
  [{ type: 'object', properties: { deep: { type: 'integer' } }, required: ['deep'] }],
])('exampleOf follows %j', (schema) => {
  const parameters = { type: 'object', properties: { value: schema }, required: ['value'] };

  const args = exampleOf(parameters) as Readonly<Record<string, unknown>>;

  expect(Object.keys(args)).toEqual(['value']);
  expect(argumentFaults(args, parameters)).toEqual([]);
});
