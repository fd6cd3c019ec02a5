/** A call whose agent uses the tools of the customer's MCP server: the answer is heard, and a tool that hangs leaves no dead air. */
import { expect, onTestFinished, test } from 'vitest';
import { openMcpShop } from '../../support/mcp/mcp-shop.ts';
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

const NUMBER = '+12025550123';

/** Between two sounds while a tool of 10 s hangs: a sentence follows the phrase 5 s later. */
const PAUSE_MS_MAX = 5500;

/** The limit of a tool, and time for the model and the voice. */
const APOLOGY_MS_MAX = 14_000;

/** Asks for the tool after a key, and then says what it was told. */
function answerTo({ role, content }: LastMessage): ScriptedAnswer {
  if (role === 'tool') {
    const day = /ships on (\w+)/.exec(content)?.[1];
    return { content: day === undefined ? 'Sorry, that did not work.' : `It ships on ${day}.` };
  }
  if (content.includes('6')) return { tool: 'shop_hang', arguments: {} };
  if (content.includes('5')) return { tool: 'shop_find_order', arguments: { orderId: 'A-1' } };
  return { content: 'Hello.' };
}

async function openWorld() {
  const shop = await openMcpShop();
  const model = noteToolCalls(answerTo);
  const environment = {
    ...(await startScriptedOllama(model.answerTo)),
    WEBHOOK_ALLOW_LOCAL: 'true',
  };
  const server = await (await startServer({ environment })).ready();
  onTestFinished(() => server.stop());
  const made = await server.api('POST', '/api/mcp-servers', {
    ...{ name: 'shop', url: shop.url, allowedTools: ['find.order', 'hang'] },
    headers: [{ name: 'Authorization', value: 'Bearer a-long-secret-token', secret: true }],
  });
  expect(made.status).toBe(201);
  await server.createAgent({ greeting: 'Hello.', tools: ['shop'] });
  const { call, id, voicedAtMs } = await callAgent(server, NUMBER);
  return { server, shop, call, id, voicedAtMs, toolCalledAtMs: model.toolCalledAtMs };
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
}

function longestPauseMs(voicedAtMs: readonly number[]): number {
  return Math.max(...voicedAtMs.map((atMs, index) => atMs - (voicedAtMs[index - 1] ?? 0)));
}

test('a caller hears what a tool of the MCP server answered', async () => {
  const { server, shop, call, id } = await openWorld();

  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('ships on Friday.');
  const tried = await server.api('POST', '/api/mcp-servers/shop/test');
  await call.hangUp();

  expect(new Set(shop.authorizations)).toEqual(new Set(['Bearer a-long-secret-token']));
  expect(tried.body).toMatchObject({ ok: true, problem: null });
  const timeline = JSON.stringify((await server.api('GET', `/api/calls/${id}/events`)).body);
  expect(timeline).toContain('"name":"shop_find_order","outcome":"done"');
  expect(`${timeline}${server.output}`).not.toContain('a-long-secret-token');
});

test('a tool of the MCP server that hangs: the caller hears a word at once, and an apology at its limit', async () => {
  const { server, call, id, voicedAtMs, toolCalledAtMs } = await openWorld();

  call.line.press('6#');
  await expect
    .poll(() => wordsOf(server, id), { timeout: APOLOGY_MS_MAX })
    .toContain('Sorry, that did not work.');
  await call.hangUp();

  const since = soundSince(toolCalledAtMs[0], voicedAtMs);
  expect(since[0]).toBeGreaterThan(BUSY_BRIDGE_MS.min);
  expect(since[0]).toBeLessThan(BUSY_BRIDGE_MS.max);
  expect(longestPauseMs(since)).toBeLessThan(PAUSE_MS_MAX);
});
