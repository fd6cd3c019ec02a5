/** Telephone calls whose model calls tools over the wire of Ollama and of OpenAI-compatible servers: in pieces, several at once, wrongly, and broken off. */
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import {
  PROTOCOLS,
  startToolCallingModel,
  type WireAnswer,
  type WireMessage,
} from '../../support/server/tool-calling-model.ts';
import { WebhookReceiver } from '../../support/webhook/webhook-receiver.ts';

const NUMBER = '+12025550123';

const orderStatus = (args: Readonly<Record<string, unknown>>) => ({
  name: 'order_status',
  arguments: args,
});

/** What the model does after a key of the caller; other words it greets. */
const SCENES: Readonly<Record<string, WireAnswer>> = {
  '5': { kind: 'calls', calls: [orderStatus({ orderId: 'A-1047' })] },
  '6': { kind: 'calls', calls: [orderStatus({ orderId: 'B-2' }), orderStatus({ orderId: 'C-3' })] },
  '7': { kind: 'calls', calls: [orderStatus({ order: 17 })] },
  '8': { kind: 'breaks-off', text: 'Let me see ', call: orderStatus({ orderId: 'D-4' }) },
};

/** Says what the tools answered since the caller spoke; where one refused its arguments, calls it again. */
function answerTo(messages: readonly WireMessage[]): WireAnswer {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(asked).filter(({ role }) => role === 'tool');
  const last = results.at(-1)?.content;
  if (last !== undefined && last !== null) {
    if (!last.includes('ships on')) {
      return { kind: 'calls', calls: [orderStatus({ orderId: 'E-5' })] };
    }
    const parts = results.map(({ content }) => /\w-\d+ ships on \w+/.exec(content ?? '')?.[0]);
    return { kind: 'says', text: `${parts.filter(Boolean).join(' and ')}.` };
  }
  const [, key = ''] = /(\d)/.exec(messages[asked]?.content ?? '') ?? [];
  return SCENES[key] ?? { kind: 'says', text: 'Hello.' };
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
}

async function openWorld(protocol: keyof typeof PROTOCOLS) {
  const shop = await WebhookReceiver.open((response, { path }) => {
    const order = path.split('/').at(-1);
    response.end(JSON.stringify({ status: `${order} ships on Friday` }));
  });
  const model = await startToolCallingModel(PROTOCOLS[protocol], answerTo);
  const server = await (
    await startServer({ environment: { ...model, WEBHOOK_ALLOW_LOCAL: 'true' } })
  ).ready();
  onTestFinished(() => server.stop());
  const tool = await server.api('POST', '/api/tools', {
    name: 'order_status',
    description: 'Looks up an order.',
    parameters: {
      type: 'object',
      properties: { orderId: { type: 'string' } },
      required: ['orderId'],
    },
    method: 'GET',
    url: `http://127.0.0.1:${shop.port}/orders/{orderId}`,
    resultPath: 'status',
  });
  expect(tool.status).toBe(201);
  await server.createAgent({ greeting: 'Hello.', tools: ['order_status'] });
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const hears = (words: string) =>
    expect.poll(() => wordsOf(server, id), { timeout: 20_000 }).toContain(words);
  await hears('Hello.');
  return { shop, call, hears };
}

test.each([
  'ollama',
  'openai',
] as const)('%s: a caller hears what tools answered, called in pieces, two at once, and again after wrong arguments', async (protocol) => {
  const { shop, call, hears } = await openWorld(protocol);

  call.line.press('5#');
  await hears('A-1047 ships on Friday.');
  call.line.press('6#');
  await hears('B-2 ships on Friday and C-3 ships on Friday.');
  call.line.press('7#');
  await hears('E-5 ships on Friday.');
  await call.hangUp();

  expect(shop.received.map(({ path }) => path)).toEqual(
    ['A-1047', 'B-2', 'C-3', 'E-5'].map((order) => `/orders/${order}`),
  );
});

test.each([
  'ollama',
  'openai',
] as const)('%s: a model that is cut off in the middle of a call costs an apology, no tool, and not the call', async (protocol) => {
  const { shop, call, hears } = await openWorld(protocol);

  call.line.press('8#');
  await hears('something went wrong on my side');
  call.line.press('5#');
  await hears('A-1047 ships on Friday.');
  await call.hangUp();

  expect(shop.received.map(({ path }) => path)).toEqual(['/orders/A-1047']);
});
