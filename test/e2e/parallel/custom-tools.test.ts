/** A call whose agent asks the customer's own server: the answer is heard, and a server that hangs leaves no dead air. */
import { expect, onTestFinished, test } from 'vitest';
import {
  type LastMessage,
  type ScriptedAnswer,
  startScriptedOllama,
} from '../../support/server/scripted-ollama.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import {
  BUSY_BRIDGE_MS,
  callAgent,
  noteToolCalls,
  soundSince,
} from '../../support/server/tool-wait.ts';
import {
  answers,
  type Behaviour,
  WebhookReceiver,
} from '../../support/webhook/webhook-receiver.ts';

const NUMBER = '+12025550123';

const TOKEN = 'Bearer a-long-secret-token';

const TIMEOUT_MS = 3_000;

/** An answer that a caller does not feel. */
const FAST_MS = 300;

/** Asks for the tool after a key, and then says what it was told. */
function answerTo({ role, content }: LastMessage): ScriptedAnswer {
  if (role === 'tool') {
    const day = /ships on (\w+)/.exec(content)?.[1];
    return { content: day === undefined ? 'Sorry, that did not work.' : `It ships on ${day}.` };
  }
  if (!/5/.test(content)) return { content: 'Hello.' };
  return { tool: 'order_status', arguments: { orderId: '10/47', part: 'a&b' } };
}

async function openWorld(behave: Behaviour) {
  const shop = await WebhookReceiver.open(behave);
  const model = noteToolCalls(answerTo);
  const environment = {
    ...(await startScriptedOllama(model.answerTo)),
    WEBHOOK_ALLOW_LOCAL: 'true',
  };
  const server = await (await startServer({ environment })).ready();
  onTestFinished(() => server.stop());
  const tool = await server.api('POST', '/api/tools', {
    name: 'order_status',
    description: 'Looks up an order.',
    parameters: {
      type: 'object',
      properties: { orderId: { type: 'string' }, part: { type: 'string' } },
      required: ['orderId'],
    },
    method: 'GET',
    url: `http://127.0.0.1:${shop.port}/orders/{orderId}`,
    headers: [{ name: 'Authorization', value: TOKEN, secret: true }],
    timeoutMs: TIMEOUT_MS,
    sayWhileWaiting: 'Let me look that up.',
    resultPath: 'data.status',
  });
  expect(tool.status).toBe(201);
  await server.createAgent({ greeting: 'Hello.', tools: ['order_status'] });
  const { call, id, voicedAtMs } = await callAgent(server, NUMBER);
  return { server, shop, call, id, voicedAtMs, toolCalledAtMs: model.toolCalledAtMs };
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
}

async function timelineOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}/events`)).body);
}

test('a caller hears what the customer’s server answered, which no record shows the secret of', async () => {
  const status = JSON.stringify({ data: { status: 'The order ships on Friday' } });
  const { server, shop, call, id } = await openWorld(answers(200, status));

  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('ships on Friday.');
  const timeline = await timelineOf(server, id);
  await call.hangUp();

  const [asked] = shop.received;
  expect(shop.received).toHaveLength(1);
  expect(asked).toMatchObject({ method: 'GET', path: '/orders/10%2F47?part=a%26b' });
  expect(asked?.headers.authorization).toBe(TOKEN);
  expect(asked?.headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  expect(timeline).toContain('order_status');
  expect(timeline + server.output).not.toContain(TOKEN);
});

test('a customer’s server that hangs leaves no dead air, and an apology at the time limit', async () => {
  const { server, shop, call, id, voicedAtMs, toolCalledAtMs } = await openWorld(() => undefined);

  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('did not work.');
  await call.hangUp();

  const since = soundSince(toolCalledAtMs[0], voicedAtMs);
  expect(shop.received).toHaveLength(1);
  expect(since[0]).toBeGreaterThan(BUSY_BRIDGE_MS.min);
  expect(since[0]).toBeLessThan(BUSY_BRIDGE_MS.max);
  expect(since.filter((atMs) => atMs > TIMEOUT_MS)[0]).toBeLessThan(TIMEOUT_MS + 1_500);
});

test('a customer’s server that answers in 0.3 s is not bridged: the first sound is its answer', async () => {
  const status = JSON.stringify({ data: { status: 'The order ships on Friday' } });
  const { server, call, id } = await openWorld((response) => {
    setTimeout(() => response.writeHead(200).end(status), FAST_MS);
  });

  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('ships on Friday.');
  const words = await wordsOf(server, id);
  await call.hangUp();

  expect(words).not.toContain('Let me look that up.');
  expect(words).not.toContain('One moment');
});
