/** Tools whose servers never answer: from the model's call to the first sound that the caller hears, and no dead air until the apology. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openMcpShop } from '../../support/mcp/mcp-shop.ts';
import { type LastMessage, startScriptedOllama } from '../../support/server/scripted-ollama.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { BRIDGE_MS, callAgent, noteToolCalls, soundSince } from '../../support/server/tool-wait.ts';
import { WebhookReceiver } from '../../support/webhook/webhook-receiver.ts';

const NUMBER = '+12025550123';

const TIMEOUT_MS = 6000;

/** A sentence follows the phrase 5 s later. */
const PAUSE_MS_MAX = 5500;

/** The longest limit of a tool, and time for the model and the voice. */
const APOLOGY_MS_MAX = 25_000;

const HOURS = [{ from: '00:00', to: '24:00' }];

const EVERY_DAY = {
  ...{ monday: HOURS, tuesday: HOURS, wednesday: HOURS, thursday: HOURS, friday: HOURS },
  ...{ saturday: HOURS, sunday: HOURS },
};

/** A day in two weeks, at ten. */
const TIME = `${new Date(Date.now() + 14 * 86_400_000).toISOString().slice(0, 10)}T10:00`;

/** What the model asks for after a key. */
const TOOLS = {
  1: { tool: 'order_status', arguments: {} },
  2: { tool: 'shop_hang', arguments: {} },
  3: { tool: 'send_sms', arguments: { text: 'Your table is booked.' } },
  4: {
    tool: 'book_appointment',
    arguments: { title: 'Check-up', startTime: TIME, attendeeName: 'Alex Morgan' },
  },
} as const;

function answerTo({ role, content }: LastMessage) {
  if (role === 'tool') return { content: 'Sorry, that did not work.' };
  const key = /pressed.*?(\d)/.exec(content)?.[1];
  return TOOLS[Number(key) as keyof typeof TOOLS] ?? { content: 'Hello.' };
}

/** Tools of each kind at servers that take requests and never answer. */
async function setUp(server: TestServer): Promise<void> {
  const hung = await WebhookReceiver.open(() => undefined);
  const origin = `http://127.0.0.1:${hung.port}`;
  const made = [
    await server.api('POST', '/api/tools', {
      ...{ name: 'order_status', description: 'Looks up an order.', method: 'GET' },
      ...{ parameters: { type: 'object', properties: {} }, url: `${origin}/orders` },
      timeoutMs: TIMEOUT_MS,
    }),
    await server.api('POST', '/api/mcp-servers', {
      ...{ name: 'shop', url: (await openMcpShop()).url, allowedTools: ['hang'] },
    }),
    await server.api('POST', '/api/sms-gateways', {
      ...{ name: 'main', preset: 'twilio', from: '+12025550100', username: 'AC1' },
      ...{ secret: 'a-long-auth-token', url: `${origin}/Messages.json`, timeoutMs: TIMEOUT_MS },
    }),
    await server.api('POST', '/api/calendars', {
      ...{ name: 'desk', timeZone: 'Europe/Rome', workingHours: EVERY_DAY, kind: 'caldav' },
      ...{ url: `${origin}/desk/`, username: 'desk', password: 'a-long-password' },
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  await server.createAgent({
    ...{ phoneNumber: NUMBER, greeting: 'Hello.', calendar: 'desk' },
    tools: ['order_status', 'shop', 'send_sms', 'book_appointment'],
  });
}

/** Calls begin so far apart that no two phrases are synthesized at the same time. */
const APART_MS = 1000;

/** Has a server's agent use the tool of that key. @returns when the caller heard sound, in milliseconds since the model's call. */
async function hearTool(key: string, waitMs: number): Promise<readonly number[]> {
  const model = noteToolCalls(answerTo);
  const environment = {
    ...(await startScriptedOllama(model.answerTo)),
    WEBHOOK_ALLOW_LOCAL: 'true',
  };
  const server = await (await startServer({ environment })).ready();
  onTestFinished(() => server.stop());
  await setUp(server);
  await pause(waitMs);
  const { call, voicedAtMs, words } = await callAgent(server, NUMBER, { number: '+12025550187' });

  call.line.press(`${key}#`);
  await expect.poll(words, { timeout: APOLOGY_MS_MAX }).toContain('Sorry, that did not work.');
  await call.hangUp();

  return soundSince(model.toolCalledAtMs[0], voicedAtMs);
}

test('each tool at a server that hangs: the caller hears a phrase within 0.7 s, and an apology', async () => {
  const heard = await Promise.all(
    Object.entries(TOOLS).map(async ([key, { tool }], index) => {
      const since = await hearTool(key, index * APART_MS);
      const pauses = since.map((atMs, place) => atMs - (since[place - 1] ?? 0));
      return { tool, firstMs: since[0], longestMs: Math.max(...pauses) };
    }),
  );

  expect(heard.map(({ tool }) => tool)).toEqual(Object.values(TOOLS).map(({ tool }) => tool));
  for (const { tool, firstMs, longestMs } of heard) {
    expect.soft(firstMs, tool).toBeGreaterThan(BRIDGE_MS.min);
    expect.soft(firstMs, tool).toBeLessThan(BRIDGE_MS.max);
    expect.soft(longestMs, tool).toBeLessThan(PAUSE_MS_MAX);
  }
});
