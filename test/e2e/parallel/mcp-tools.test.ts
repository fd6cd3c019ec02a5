/** A call whose agent uses the tools of the customer's MCP server: the answer is heard, and a tool that hangs leaves no dead air. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { openMcpShop } from '../../support/mcp/mcp-shop.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';

/** The set phrase comes 0.7 s after the tool's start, and the voice takes a moment for it. */
const FIRST_SOUND_MS_MAX = 1500;

/** The limit of a tool, and time for the model and the voice. */
const APOLOGY_MS_MAX = 14_000;

interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** A server that speaks Ollama's protocol: asks for the tool after a key, and then says what it was told. */
async function startModel(): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request.url ?? '', Buffer.concat(chunks), response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answer(url: string, body: Buffer, response: ServerResponse): void {
  if (url !== '/api/chat') {
    const models = [{ name: 'asker:latest', model: 'asker:latest' }];
    response.end(JSON.stringify({ models, version: '0.9.0' }));
    return;
  }
  const { messages } = JSON.parse(body.toString()) as { messages: readonly ChatMessage[] };
  const message = { role: 'assistant', content: '', ...answerTo(messages.at(-1)) };
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.write(`${JSON.stringify({ model: 'asker', message, done: false })}\n`);
  const last = { role: 'assistant', content: '' };
  response.end(`${JSON.stringify({ model: 'asker', message: last, done: true })}\n`);
}

function answerTo(last: ChatMessage | undefined): object {
  if (last?.role === 'tool') {
    const day = /ships on (\w+)/.exec(last.content)?.[1];
    return { content: day === undefined ? 'Sorry, that did not work.' : `It ships on ${day}.` };
  }
  if (!/[56]/.test(last?.content ?? '')) return { content: 'Hello.' };
  return { tool_calls: [{ function: callTo(last?.content ?? '') }] };
}

function callTo(words: string): object {
  return words.includes('6')
    ? { name: 'shop_hang', arguments: {} }
    : { name: 'shop_find_order', arguments: { orderId: 'A-1' } };
}

async function openWorld() {
  const shop = await openMcpShop();
  const environment = {
    ...{ LLM: 'ollama', OLLAMA_HOST: await startModel(), OLLAMA_MODEL: 'asker' },
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
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const voicedAtMs: number[] = [];
  call.line.onPacket(({ atMs, isVoiced }) => {
    if (isVoiced) voicedAtMs.push(atMs);
  });
  await expect.poll(() => wordsOf(server, id), { timeout: 10_000 }).toContain('Hello.');
  return { server, shop, call, id, voicedAtMs };
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
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
  const { server, call, id, voicedAtMs } = await openWorld();

  const pressedAtMs = performance.timeOrigin + performance.now();
  call.line.press('6#');
  await expect
    .poll(() => wordsOf(server, id), { timeout: APOLOGY_MS_MAX })
    .toContain('Sorry, that did not work.');
  await call.hangUp();

  const firstMs = voicedAtMs.find((atMs) => atMs > pressedAtMs + 300) ?? Number.POSITIVE_INFINITY;
  expect(firstMs - pressedAtMs).toBeLessThan(FIRST_SOUND_MS_MAX + 300);
});
