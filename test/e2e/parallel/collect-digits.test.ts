/** A caller types the number of a card: the customer's server gets it, and nothing else keeps a digit of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { DtmfDetector } from '../../../src/media/dsp/in-band-dtmf.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { speakPhrase } from '../../support/speech/espeak-phrase.ts';
import { answers, WebhookReceiver } from '../../support/webhook/webhook-receiver.ts';

const NUMBER = '+12025550123';

const CARD = '4929123456781236';

const QUESTION = 'Please type your card number, then press hash.';

const SPEAKER = { voice: 'en-us', speed: 150, pitch: 50, levelDbfs: -20 };

interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** A server that speaks Ollama's protocol: asks for the card after a "1", has it charged, and keeps all that it was sent. */
async function startModel() {
  const prompts: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      prompts.push(body);
      answer(request.url ?? '', body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { prompts, host: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function answer(url: string, body: string, response: ServerResponse): void {
  if (url !== '/api/chat') {
    const models = [{ name: 'asker:latest', model: 'asker:latest' }];
    response.end(JSON.stringify({ models, version: '0.9.0' }));
    return;
  }
  const { messages } = JSON.parse(body) as { messages: readonly ChatMessage[] };
  const message = { role: 'assistant', content: '', ...answerTo(messages.at(-1)) };
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.write(`${JSON.stringify({ model: 'asker', message, done: false })}\n`);
  const last = { role: 'assistant', content: '' };
  response.end(`${JSON.stringify({ model: 'asker', message: last, done: true })}\n`);
}

function answerTo({ role, content = '' }: Partial<ChatMessage> = {}): object {
  if (content.startsWith('Collected')) return callOf('charge', { card: '{{card}}', amount: '20' });
  if (role === 'tool') return { content: content.includes('Done') ? 'It is paid.' : 'Try again.' };
  if (!content.includes('pressed 1')) return { content: 'Hello.' };
  return { content: QUESTION, ...callOf('collect_digits', { name: 'card', isCard: true }) };
}

function callOf(name: string, args: object): object {
  return { tool_calls: [{ function: { name, arguments: args } }] };
}

async function openWorld(hasKeyEvents: boolean) {
  // A service that repeats what it was sent.
  const bank = await WebhookReceiver.open(answers(200, JSON.stringify({ paid: `with ${CARD}` })));
  const model = await startModel();
  const environment = {
    ...{ LLM: 'ollama', OLLAMA_HOST: model.host, OLLAMA_MODEL: 'asker' },
    ...{ WEBHOOK_ALLOW_LOCAL: 'true', LOG_LEVEL: 'debug' },
  };
  const server = await (await startServer({ environment })).ready();
  onTestFinished(() => server.stop());
  const tool = await server.api('POST', '/api/tools', {
    name: 'charge',
    description: 'Charges a card.',
    parameters: {
      type: 'object',
      properties: {
        card: { type: 'string', pattern: '^[0-9]{12,19}$' },
        amount: { type: 'string' },
      },
      required: ['card', 'amount'],
    },
    method: 'POST',
    url: `http://127.0.0.1:${bank.port}/charges`,
    headers: [],
    timeoutMs: 5000,
  });
  expect(tool.status).toBe(201);
  await server.createAgent({ greeting: 'Hello.', tools: ['collect_digits', 'charge'] });
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`, { hasKeyEvents });
  const id = await server.callInProgress();
  await expect.poll(() => wordsOf(server, id), { timeout: 10_000 }).toContain('Hello.');
  return { server, bank, model, call, id };
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
}

type Press = (call: PhoneCall, keys: string) => Promise<void> | void;

const onTheLine: Press = (call, keys) => call.line.press(keys);

const byInfo: Press = async (call, keys) => {
  for (const key of keys) expect(await call.pressByInfo(key)).toBe(200);
};

/** All that a server keeps of a call. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Keys whose tones are in the caller's channel of a recording. */
function keysIn(wav: Buffer): string {
  const samples = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer);
  const caller = samples.filter((_, at) => at % 2 === 0);
  const detector = new DtmfDetector();
  const keys: string[] = [];
  for (let at = 0; at < caller.length; at += 160) {
    keys.push(...detector.hear(caller.subarray(at, at + 160)).map(({ digit }) => digit));
  }
  return keys.join('');
}

test.each([
  ['as telephone-event', true, onTheLine],
  ['by tones', false, onTheLine],
  ['by SIP INFO', true, byInfo],
])('a card typed %s is charged, and no digit of it is in database, recording, log, SIP trace or prompt', async (_way, hasKeyEvents, press) => {
  const { server, bank, model, call, id } = await openWorld(hasKeyEvents);
  await press(call, '1#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('then press hash.');
  await press(call, CARD.slice(0, 8));
  // The caller reads it out as well.
  await call.line.speak(await speakPhrase('four nine two nine', SPEAKER));
  await press(call, `${CARD.slice(8)}#`);
  await expect.poll(() => wordsOf(server, id), { timeout: 30_000 }).toContain('It is paid.');
  const words = await wordsOf(server, id);
  const trace = JSON.stringify((await server.api('GET', `/api/calls/${id}/sip`)).body);
  await call.hangUp();
  await expect
    .poll(async () => (await server.api('GET', `/api/calls/${id}`)).body.status)
    .toBe('completed');

  expect(bank.received.map(({ body }) => JSON.parse(body))).toEqual([{ card: CARD, amount: '20' }]);
  expect(words).toContain('(pressed 16 keys, not kept)');
  expect(words.match(/"role":"user"/g)).toHaveLength(2);
  const files = filesOf(server.dataDir);
  const recordings = files.filter((path) => path.endsWith('.wav'));
  const kept = files
    .filter((path) => !path.endsWith('.wav'))
    .map((path) => readFileSync(path, 'latin1'));
  for (const text of [...kept, ...model.prompts, server.output, trace, words]) {
    expect(text).not.toMatch(
      /4[\s-]*9[\s-]*2[\s-]*9[\s-]*1[\s-]*2|Signal\s*=\s*[2-9]|four nine two/i,
    );
  }
  expect(recordings).toHaveLength(1);
  expect(recordings.map((path) => keysIn(readFileSync(path))).join()).toMatch(
    hasKeyEvents ? /^$/ : /^1?#?$/,
  );
});

test('keys that come while the agent still asks count, and a wrong number is typed again', async () => {
  const { server, bank, call, id } = await openWorld(true);
  call.line.press('1#');
  await expect.poll(() => voiced(call), { timeout: 15_000 }).toBe(true);

  call.line.press(`${CARD.slice(0, 15)}0#`);
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('Try again.');
  call.line.press('1#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('then press hash.');
  call.line.press(`99*${CARD}#`);
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('It is paid.');
  await call.hangUp();

  expect(bank.received.map(({ body }) => JSON.parse(body))).toEqual([{ card: CARD, amount: '20' }]);
});

/** Whether the agent speaks at this moment, as heard on the telephone. */
function voiced(call: PhoneCall): boolean {
  return call.line.heard.slice(-3).every(({ isVoiced }) => isVoiced);
}
