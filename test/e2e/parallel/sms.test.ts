/** A caller gets a code as a message and keys it in; a gateway that hangs, and messages that may not go out, end in words. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const CALLER = '+12025550199';

const TOKEN = 'a-long-auth-token';

const CODE = '739164';

const TIMEOUT_MS = 3_000;

const TAKEN = answers(201, '{"sid":"SM1","status":"queued"}');

/** The agent's part in the scene of the code, as a rule book. */
const BOOK = {
  name: 'code',
  rules: [
    {
      id: 'send',
      when: { regex: '5' },
      call: { tool: 'send_sms', arguments: { text: `Your code: ${CODE}.` } },
    },
    { id: 'sent', when: { tool: 'send_sms' }, say: 'Please enter the code.' },
    { id: 'right', when: { regex: [...CODE].join('\\s?') }, say: 'Thank you, you are confirmed.' },
  ],
  otherwise: { say: 'That is not the code.' },
};

/** A model that does what no model should: with a key it names another number, or a link that is not allowed. */
const ATTEMPTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  5: { text: 'Your table is booked.' },
  6: { text: 'Hello', to: '+88213300655' },
  7: { text: 'Win at https://evil.example/now' },
};

function answerTo({ role, content }: LastMessage): ScriptedAnswer {
  if (role === 'tool') {
    if (/on its way/.test(content)) return { content: 'It is on its way.' };
    const isOpen = /may have been sent/.test(content);
    return { content: isOpen ? 'Sorry, no answer came.' : 'Sorry, that is not possible.' };
  }
  const key = /pressed (\d)/.exec(content)?.[1] ?? '';
  const args = ATTEMPTS[key];
  return args === undefined ? { content: 'Hello.' } : { tool: 'send_sms', arguments: args };
}

function scriptSettings(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-script-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'book.json');
  writeFileSync(file, JSON.stringify(BOOK));
  return { LLM: 'scripted', SCRIPT_FILE: file };
}

async function openWorld(
  behave: Behaviour,
  settings: Readonly<Record<string, string>>,
  caller = CALLER,
) {
  const gateway = await WebhookReceiver.open(behave);
  const environment = { ...settings, WEBHOOK_ALLOW_LOCAL: 'true' };
  const server = await (await startServer({ environment })).ready();
  onTestFinished(() => server.stop());
  const made = await server.api('POST', '/api/sms-gateways', {
    ...{ name: 'main', preset: 'twilio', from: '+12025550100', username: 'AC1', secret: TOKEN },
    ...{ url: `http://127.0.0.1:${gateway.port}/Messages.json`, timeoutMs: TIMEOUT_MS },
  });
  expect(made.status).toBe(201);
  await server.createAgent({ greeting: 'Hello.', tools: ['send_sms'] });
  const { call, id, voicedAtMs } = await callAgent(server, NUMBER, { number: caller });
  return { server, gateway, call, id, voicedAtMs };
}

async function wordsOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.api('GET', `/api/calls/${id}`)).body.transcript ?? []);
}

async function messagesOf(server: TestServer, id: string): Promise<unknown> {
  return (await server.api('GET', `/api/calls/${id}`)).body.messages;
}

test('a caller gets a code by message, keys it in and is confirmed; the call shows that it was delivered', async () => {
  const { server, gateway, call, id } = await openWorld(TAKEN, scriptSettings());

  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('enter the code');
  const sent = Object.fromEntries(new URLSearchParams(gateway.received[0]?.body));
  const body = new URLSearchParams({ MessageSid: 'SM1', MessageStatus: 'delivered' });
  const report = await fetch(sent.StatusCallback ?? '', { method: 'POST', body });
  const code = /\d{6}/.exec(sent.Body ?? '')?.[0];
  call.line.press(`${code}#`);
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('you are confirmed');
  await call.hangUp();
  const timeline = JSON.stringify((await server.api('GET', `/api/calls/${id}/events`)).body);

  expect(gateway.received).toHaveLength(1);
  expect(sent).toMatchObject({ To: CALLER, From: '+12025550100' });
  expect(report.status).toBe(204);
  expect(await messagesOf(server, id)).toMatchObject([
    { to: CALLER, text: `Your code: ${CODE}.`, status: 'delivered', gateway: 'main' },
  ]);
  expect(timeline).toContain('"status":"sent"');
  expect(timeline).toContain('"status":"delivered"');
  const signature = new URL(sent.StatusCallback ?? '').searchParams.get('signature') ?? '';
  for (const secret of [CODE, TOKEN, signature]) {
    expect([secret, server.output.includes(secret)]).toEqual([secret, false]);
  }
  expect(timeline).not.toContain(CODE);
});

test('a gateway that hangs leaves no dead air: the caller hears a phrase, then an apology, and one message was asked for', async () => {
  const model = noteToolCalls(answerTo);
  const { server, gateway, call, id, voicedAtMs } = await openWorld(
    () => undefined,
    await startScriptedOllama(model.answerTo),
  );

  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('no answer came.');
  await call.hangUp();

  const since = soundSince(model.toolCalledAtMs[0], voicedAtMs);
  expect(since[0]).toBeGreaterThan(BUSY_BRIDGE_MS.min);
  expect(since[0]).toBeLessThan(BUSY_BRIDGE_MS.max);
  expect(since.filter((atMs) => atMs > TIMEOUT_MS)[0]).toBeLessThan(TIMEOUT_MS + 1_500);
  expect(gateway.received).toHaveLength(1);
  expect(await messagesOf(server, id)).toMatchObject([{ status: 'unknown' }]);
});

test('no message goes to a number that the model names, with a link that is not allowed, or after an opt-out', async () => {
  const { server, gateway, call, id } = await openWorld(TAKEN, await startScriptedOllama(answerTo));
  const refusals = async () => (await wordsOf(server, id)).split('not possible').length - 1;

  call.line.press('6#');
  await expect.poll(refusals, { timeout: 15_000 }).toBe(1);
  call.line.press('7#');
  await expect.poll(refusals, { timeout: 15_000 }).toBe(2);
  await server.api('PUT', `/api/sms-opt-outs/${CALLER}`);
  call.line.press('5#');
  await expect.poll(refusals, { timeout: 15_000 }).toBe(3);
  await server.api('DELETE', `/api/sms-opt-outs/${CALLER}`);
  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('It is on its way.');
  await call.hangUp();

  expect(gateway.received).toHaveLength(1);
  expect(await messagesOf(server, id)).toMatchObject([{ text: 'Your table is booked.' }]);
});

test.each([
  ['from a country that is not allowed', '+4915123456789'],
  ['whose number is withheld', 'anonymous'],
])('no message goes to a caller %s', async (_case, caller) => {
  const { server, gateway, call, id } = await openWorld(
    TAKEN,
    await startScriptedOllama(answerTo),
    caller,
  );

  call.line.press('5#');
  await expect.poll(() => wordsOf(server, id), { timeout: 15_000 }).toContain('not possible');
  await call.hangUp();

  expect(gateway.received).toEqual([]);
  expect(await messagesOf(server, id)).toBeUndefined();
});
