/** A language model that is slow, or never answers, on real calls: how long the line is silent. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { startServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';
const QUESTION = 'What are your opening hours?';
const ANSWER = ['We ', 'are ', 'open ', 'from ', 'nine ', 'to ', 'five ', 'every ', 'day.'];

/** The filler is said 1.5 s after the model was asked; the caller's pause comes before, the voice's first sound after. */
const SILENCE_MS_MAX = 2500;

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A server that speaks Ollama's protocol: the first word after `firstMs`, the others `nextMs` apart. */
async function startModel(firstMs: number, nextMs: number): Promise<string> {
  const server: Server = createServer((request, response) => {
    request.resume();
    request.on('end', () => void answer(request.url ?? '', response, { firstMs, nextMs }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answer(
  url: string,
  response: ServerResponse,
  { firstMs, nextMs }: { readonly firstMs: number; readonly nextMs: number },
): Promise<void> {
  if (url !== '/api/chat') {
    response.end(
      JSON.stringify({ models: [{ name: 'slow:latest', model: 'slow:latest' }], version: '0.9.0' }),
    );
    return;
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  for (const [index, content] of ANSWER.entries()) {
    await new Promise((resolve) => setTimeout(resolve, index === 0 ? firstMs : nextMs));
    if (response.destroyed) return;
    const message = { role: 'assistant', content };
    response.write(`${JSON.stringify({ model: 'slow', message, done: false })}\n`);
  }
  const message = { role: 'assistant', content: '' };
  response.end(`${JSON.stringify({ model: 'slow', message, done: true })}\n`);
}

test.each([
  ['gives its first word after 6 s', 6000, 10, 6000],
  ['gives a word every 0.9 s', 900, 900, 8000],
  // The scripted one takes over after 8 s.
  ['never answers', 600_000, 10, 8000],
])('a model that %s leaves no dead air', async (_case, firstMs, nextMs, answeredMs) => {
  const OLLAMA_HOST = await startModel(firstMs, nextMs);
  const environment = { LLM: 'ollama,scripted', OLLAMA_HOST, OLLAMA_MODEL: 'slow' };
  const server = await (await startServer({ environment })).ready();
  undo.push(() => server.stop());
  const ready = (await (await fetch(`${server.baseUrl}/readyz`)).json()) as { engines: unknown };
  expect(ready.engines).toContainEqual(expect.objectContaining({ engine: 'ollama/slow' }));
  await server.createAgent({ phoneNumber: NUMBER });
  const phone = new Phone();
  await phone.start();
  undo.push(() => phone.stop());
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const listener = new Listener(call.line);
  const voicedAtMs: number[] = [];
  call.line.onPacket(({ atMs, isVoiced }) => {
    if (isVoiced) voicedAtMs.push(atMs);
  });
  await listener.hasSpoken(0, 600, 15_000);

  const { lastVoicedAtMs } = await call.line.speak(phraseSaying(QUESTION));
  // From here on the line was silent for 2.5 s: the answer is over.
  await listener.hasSpoken(lastVoicedAtMs + 4000, 2500, 30_000);

  const heardAtMs = [lastVoicedAtMs, ...voicedAtMs.filter((atMs) => atMs > lastVoicedAtMs)];
  const silencesMs = heardAtMs.slice(1).map((atMs, index) => atMs - (heardAtMs[index] ?? 0));
  expect(Math.max(...silencesMs)).toBeLessThan(SILENCE_MS_MAX);
  expect((heardAtMs.at(-1) ?? 0) - lastVoicedAtMs).toBeGreaterThan(answeredMs);
});
