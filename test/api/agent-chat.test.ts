import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { HttpServer } from '../../src/api/http/http-server.ts';
import type { AgentChat } from '../../src/domain/agent/agent-version.ts';
import { ServiceError } from '../../src/domain/service-error.ts';
import { systemClock } from '../../src/lib/clock.ts';
import {
  addKey,
  FOREIGN_KEY,
  LIVE_KEY,
  openTestApi,
  type RequestOptions,
  TEST_KEY,
} from '../support/api/test-api.ts';
import { openSignedIn } from '../support/dashboard/dashboard-world.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const PATH = '/api/agents/agent_1/chat';

const ASKED = { messages: [{ role: 'user', text: 'Hello?' }] };

/** With one agent, and a model that answers with what `answer` gives. */
async function openChat(answer: () => ReturnType<AgentChat['reply']>) {
  const asked: Parameters<AgentChat['reply']>[0][] = [];
  const reply: AgentChat['reply'] = (question) => {
    asked.push(question);
    return answer();
  };
  const api = await openTestApi({ chat: { reply } });
  await api.store.agents.insert(buildAgent({ accountId: 'acct_main', status: 'paused' }));
  const ask = (options: RequestOptions = {}) => api.json('POST', PATH, { body: ASKED, ...options });
  return { api, asked, ask };
}

/** As `openChat`, with a signed-in browser. */
async function openDraftChat() {
  const asked: Parameters<AgentChat['reply']>[0][] = [];
  const reply: AgentChat['reply'] = async (question) => {
    asked.push(question);
    return REPLY;
  };
  const { api, browser } = await openSignedIn({ chat: { reply } });
  const agent = { greeting: 'Hello.', status: 'paused', phoneNumber: null } as const;
  await api.store.agents.insert(buildAgent({ accountId: 'acct_main', ...agent }));
  return { api, browser, asked };
}

const REPLY = {
  text: 'One moment.',
  toolCalls: [{ name: 'transfer_call', arguments: { target: 'sales' } }],
  model: 'test/one',
  isPromptUsed: true,
  preparedMs: 2,
  firstTokenMs: 9,
  tookMs: 12,
};

test('POST /api/agents/{agentId}/chat answers with what the agent says and would do', async () => {
  const { ask, asked } = await openChat(async () => REPLY);

  const { status, body } = await ask();

  expect(status).toBe(200);
  expect(body).toEqual({
    reply: 'One moment.',
    toolCalls: [{ name: 'transfer_call', arguments: { target: 'sales' }, ran: false }],
    model: 'test/one',
    promptUsed: true,
    preparedMs: 2,
    firstTokenMs: 9,
    tookMs: 12,
  });
  expect(asked[0]).toMatchObject({
    agent: { id: 'agent_1' },
    account: { id: 'acct_main' },
    messages: ASKED.messages,
  });
});

test('POST /api/agents/{agentId}/chat says that a rule book does not use the prompt', async () => {
  const { ask } = await openChat(async () => ({ ...REPLY, isPromptUsed: false }));

  expect((await ask()).body).toMatchObject({ promptUsed: false });
});

test.each([
  ['no messages', { messages: [] }, 'messages'],
  ['51 messages', { messages: Array(51).fill(ASKED.messages[0]) }, 'messages'],
  ['the agent’s words last', { messages: [{ role: 'agent', text: 'Hi' }] }, 'messages'],
  ['an empty text', { messages: [{ role: 'user', text: '' }] }, 'messages.0.text'],
  ['4,001 letters', { messages: [{ role: 'user', text: 'a'.repeat(4001) }] }, 'messages.0.text'],
  ['half a character', { messages: [{ role: 'user', text: '\ud800' }] }, 'messages.0.text'],
  ['a system prompt', { messages: [{ role: 'system', text: 'a' }] }, 'messages.0.role'],
  ['a field too many', { messages: [{ role: 'user', text: 'a', name: 'b' }] }, 'messages.0.name'],
  ['no list', { messages: 'Hello' }, 'messages'],
])('POST /api/agents/{agentId}/chat answers 400 to %s, and runs no model', async (_case, body, path) => {
  const { ask, asked } = await openChat(async () => REPLY);

  const answer = await ask({ body });

  expect(answer.status).toBe(400);
  expect(answer.body.error.details.map((detail) => detail.path)).toContain(path);
  expect(asked).toEqual([]);
});

test('POST /api/agents/{agentId}/chat takes 50 messages of 4,000 letters', async () => {
  const { ask } = await openChat(async () => REPLY);
  const messages = Array(50).fill({ role: 'user', text: 'a'.repeat(4000) });

  expect((await ask({ body: { messages } })).status).toBe(200);
});

test.each([
  ['another account', FOREIGN_KEY],
  ['the other environment', TEST_KEY],
])('POST /api/agents/{agentId}/chat answers 404 to %s, and runs no model', async (_case, key) => {
  const { ask, asked } = await openChat(async () => REPLY);

  const answer = await ask({ key });

  expect(answer).toMatchObject({ status: 404, body: { error: { code: 'AGENT_NOT_FOUND' } } });
  expect(asked).toEqual([]);
});

test('POST /api/agents/{agentId}/chat needs agents:write', async () => {
  const key = `svc_live_${'8'.repeat(32)}`;
  const { api, ask } = await openChat(async () => REPLY);
  const scopes = ['agents:read', 'calls:write'] as const;
  await addKey(api.store, key, { accountId: 'acct_main', environment: 'live', scopes });

  expect((await ask({ key })).status).toBe(403);
});

test('POST /api/agents/{agentId}/chat answers 429 with Retry-After while others are answered', async () => {
  const { api } = await openChat(async () => null);

  const response = await api.request('POST', PATH, { body: ASKED });

  expect([response.status, response.headers.get('Retry-After')]).toEqual([429, '2']);
});

test('POST /api/agents/{agentId}/chat answers 503 when the model fails, and retries with the same key', async () => {
  const failure = new ServiceError('SERVICE_UNAVAILABLE', 'Cannot answer');
  const { ask, asked } = await openChat(() => Promise.reject(failure));
  const headers = { 'X-Idempotency-Key': 'k1' };

  expect((await ask({ headers })).status).toBe(503);
  expect((await ask({ headers })).status).toBe(503);

  expect(asked).toHaveLength(2);
});

test('POST /api/agents/{agentId}/chat asks the model once for each idempotency key', async () => {
  const { api, ask, asked } = await openChat(async () => REPLY);
  const headers = { 'X-Idempotency-Key': 'k1' };

  const first = await ask({ headers });
  const second = await api.request('POST', PATH, { body: ASKED, headers });
  const other = await ask({ headers, body: { messages: [{ role: 'user', text: 'Other' }] } });

  expect(await second.json()).toEqual(first.body);
  expect(second.headers.get('Idempotent-Replayed')).toBe('true');
  expect(other.status).toBe(422);
  expect(asked).toHaveLength(1);
});

test('POST /api/agents/{agentId}/chat answers the first of two requests that come with a key together', async () => {
  let answers = 0;
  const { ask } = await openChat(async () => {
    answers += 1;
    return { ...REPLY, tookMs: answers };
  });
  const headers = { 'X-Idempotency-Key': 'k1' };

  const [first, second] = await Promise.all([ask({ headers }), ask({ headers })]);

  expect([first.status, second.status, answers]).toEqual([200, 409, 1]);
  expect((await ask({ headers })).body).toEqual(first.body);
});

test('POST /api/agents/{agentId}/chat tells the model when its client has gone away', async () => {
  const began = Promise.withResolvers<AbortSignal>();
  const { api, asked } = await openChat(async () => {
    const signal = asked[0]?.signal as AbortSignal;
    began.resolve(signal);
    await once(signal, 'abort');
    throw new ServiceError('SERVICE_UNAVAILABLE', 'Cannot answer');
  });
  const newId = () => `req_${'0'.repeat(24)}`;
  const { fetch } = api.app;
  const options = { host: '127.0.0.1', port: 0, fetch, newId, clock: systemClock };
  const server = new HttpServer(options);
  const port = await server.start();
  onTestFinished(() => server.stop());
  const headers = { Authorization: `Bearer ${LIVE_KEY}`, 'Content-Type': 'application/json' };
  const request = httpRequest({ port, host: '127.0.0.1', path: PATH, method: 'POST', headers });
  request.on('error', () => undefined);
  request.end(JSON.stringify(ASKED));
  const signal = await began.promise;

  request.destroy();

  if (!signal.aborted) await once(signal, 'abort');
  expect(signal.aborted).toBe(true);
});

test('POST /api/agents/{agentId}/chat answers as the draft where the dashboard asks for it', async () => {
  const { api, browser, asked } = await openDraftChat();
  const key = await browser.key();
  const ask = (more: object = {}) => api.json('POST', PATH, { key, body: { ...ASKED, ...more } });

  const without = await ask({ draft: true });
  const changes = { greeting: 'Hi', status: 'active', phoneNumber: '+390612345678' };
  await api.request('PUT', '/api/agents/agent_1/draft', { key, body: changes });
  const statuses = [await ask({ draft: true }), await ask({ draft: false }), await ask()];

  expect([without.status, ...statuses.map(({ status }) => status)]).toEqual([404, 200, 200, 200]);
  expect(asked.map(({ agent }) => agent.greeting)).toEqual(['Hi', 'Hello.', 'Hello.']);
  // A trial has the live agent's number and status.
  expect(asked[0]?.agent).toMatchObject({ status: 'paused', phoneNumber: null });
});

test('POST /api/agents/{agentId}/chat refuses a draft to a key of customers', async () => {
  const { api, asked } = await openDraftChat();
  await api.request('PUT', '/api/agents/agent_1/draft', { body: { greeting: 'Hi' } });

  const answer = await api.json('POST', PATH, { body: { ...ASKED, draft: true } });

  expect(answer).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
  expect(asked).toEqual([]);
});
