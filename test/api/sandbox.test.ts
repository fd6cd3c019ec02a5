/** `/api/sandbox`: which keys may start a simulated inbound call, and the saved call. */
import { expect, test } from 'vitest';
import { QUEUED_CALLS_MAX } from '../../src/domain/dialing/outbound-rules.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import {
  addKey,
  LIVE_KEY,
  openTestApi,
  type RequestOptions,
  TEST_KEY,
} from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { STORE_NOW_MS } from '../support/store/test-store.ts';

const PATH = '/api/sandbox/calls/inbound';
const NOW = new Date(STORE_NOW_MS).toISOString();

async function openDesk(
  fields: Parameters<typeof buildAgent>[0] = {},
  deps: Parameters<typeof openTestApi>[0] = {},
) {
  const api = await openTestApi(deps);
  const facts = { accountId: 'acct_main', environment: 'test' } as const;
  await api.store.agents.insert(buildAgent({ ...facts, ...fields }));
  const ring = async (body: object, options: RequestOptions = {}) => {
    const asked = { agentId: 'agent_1', ...body };
    return api.json('POST', PATH, { key: TEST_KEY, body: asked, ...options });
  };
  const queued = () => api.store.calls.queued('test', 'inbound', 10);
  return { api, ring, queued };
}

test('POST saves a queued inbound call and says when the caller will ring', async () => {
  const { ring, queued } = await openDesk({ phoneNumber: '+12025550123' });

  const { status, body } = await ring({ from: '+390612345678', scenario: 'appointment' });

  const [call] = await queued();
  expect(status).toBe(202);
  expect(body).toEqual({
    callId: call?.id,
    status: 'queued',
    estimatedStartTime: NOW,
    createdAt: NOW,
  });
  expect(call).toMatchObject({
    accountId: 'acct_main',
    environment: 'test',
    agentId: 'agent_1',
    direction: 'inbound',
    status: 'queued',
    from: '+390612345678',
    to: '+12025550123',
    startedAt: null,
    scenario: 'appointment',
  });
});

test.each([
  [{}, { from: '+15005550110', to: '+15005550006', scenario: 'friendly' }],
  [{ scenario: '03' }, { from: '+15005550110', scenario: 'silent' }],
  [{ from: '+12025550104' }, { from: '+12025550104', scenario: 'transfer' }],
  [{ from: '+12025550104', scenario: '99' }, { scenario: 'friendly' }],
])('POST %o lets ring in %o', async (body, expected) => {
  const { ring, queued } = await openDesk();

  await ring(body);

  expect(await queued()).toMatchObject([expected]);
});

test.each([
  [{ scenario: 'dance' }, 400, 'VALIDATION_ERROR'],
  [{ scenario: '5' }, 400, 'VALIDATION_ERROR'],
  [{ from: 5 }, 400, 'VALIDATION_ERROR'],
  [{ agentId: 7 }, 400, 'VALIDATION_ERROR'],
  [{ to: '+12025550123' }, 400, 'VALIDATION_ERROR'],
  [{ agentId: 'agent_none' }, 404, 'AGENT_NOT_FOUND'],
  [{ from: 'anonymous' }, 422, 'UNPROCESSABLE'],
  [{ from: '+1202555' }, 422, 'UNPROCESSABLE'],
  [{ scenario: 'busy' }, 422, 'UNPROCESSABLE'],
  [{ from: '+12025550101' }, 422, 'UNPROCESSABLE'],
  [{ scenario: '07' }, 422, 'UNPROCESSABLE'],
])('POST %o is answered with %d %s, and no call is queued', async (body, expected, code) => {
  const { ring, queued } = await openDesk();

  const answer = await ring(body);

  expect([answer.status, answer.body.error.code]).toEqual([expected, code]);
  expect(await queued()).toEqual([]);
});

test('POST names the field that is unknown or wrong', async () => {
  const { ring } = await openDesk();

  const unknown = await ring({ volume: 11 });
  const wrong = await ring({ scenario: 'dance' });

  expect(unknown.body.error.details).toEqual([{ path: 'volume', message: 'Unknown field' }]);
  expect(wrong.body.error.details[0]?.path).toBe('scenario');
});

test('POST to a paused agent is 409', async () => {
  const { ring } = await openDesk({ status: 'paused' });

  const answer = await ring({});

  expect([answer.status, answer.body.error.code]).toEqual([409, 'CONFLICT']);
});

test('POST with a live key is 403, whether the agent exists or not', async () => {
  const { api, ring, queued } = await openDesk();
  await api.store.agents.insert(
    buildAgent({ id: 'agent_live', accountId: 'acct_main', environment: 'live' }),
  );

  const answers = [
    await ring({ agentId: 'agent_live' }, { key: LIVE_KEY }),
    await ring({ agentId: 'agent_none' }, { key: LIVE_KEY }),
  ];

  expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
    [403, 'FORBIDDEN'],
    [403, 'FORBIDDEN'],
  ]);
  expect(await queued()).toEqual([]);
});

test('POST needs the scope calls:write, and a key at all', async () => {
  const { api, ring } = await openDesk();
  const reader = `svc_test_${'R'.repeat(32)}`;
  await addKey(api.store, reader, {
    accountId: 'acct_main',
    environment: 'test',
    scopes: ['calls:read', 'agents:write'],
  });

  expect((await ring({}, { key: reader })).status).toBe(403);
  expect((await ring({}, { key: null })).status).toBe(401);
});

test('POST answers for an agent of another account as for one that never was', async () => {
  const { api, ring } = await openDesk();
  const foreign = { id: 'agent_foreign', accountId: 'acct_foreign', environment: 'test' } as const;
  await api.store.agents.insert(buildAgent(foreign));

  const theirs = await ring({ agentId: 'agent_foreign' });
  const nobodys = await ring({ agentId: 'agent_none' });

  expect(theirs.status).toBe(404);
  expect({ ...theirs.body.error, requestId: '' }).toEqual({ ...nobodys.body.error, requestId: '' });
});

test('POST with one idempotency key lets one caller ring', async () => {
  const { ring, queued } = await openDesk();
  const headers = { 'X-Idempotency-Key': 'ring-once' };

  const first = await ring({}, { headers });
  const second = await ring({}, { headers });

  expect(second).toEqual(first);
  expect(await queued()).toHaveLength(1);
});

test('POST is 503 with Retry-After when too many callers wait already', async () => {
  const { api } = await openDesk();
  for (let index = 0; index < QUEUED_CALLS_MAX; index += 1) {
    const facts = { id: `call_${index}`, accountId: 'acct_main', environment: 'test' } as const;
    await api.store.calls.insert(buildCall({ ...facts, status: 'queued', startedAt: null }), []);
  }

  const response = await api.request('POST', PATH, { key: TEST_KEY, body: { agentId: 'agent_1' } });

  expect(response.status).toBe(503);
  expect(response.headers.get('Retry-After')).toMatch(/^\d+$/);
});

test('POST is 503 with Retry-After while the server drains, logged without a stack, and no call is queued', async () => {
  const queue = {
    isDraining: true,
    hasTrunkFor: () => true,
    estimatedStart: async () => new Date(0),
  };
  const logged: unknown[] = [];
  const log: Logger = {
    ...silentLogger,
    warn: (...line) => logged.push(['warn', ...line]),
    error: (...line) => logged.push(['error', ...line]),
  };
  const { api, ring, queued } = await openDesk(
    {},
    { dialQueues: { live: queue, test: queue }, log },
  );

  const response = await api.request('POST', PATH, { key: TEST_KEY, body: { agentId: 'agent_1' } });
  const { status, body } = await ring({});

  expect(response.headers.get('Retry-After')).toBe('30');
  expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(await queued()).toEqual([]);
  const why = 'Cannot start the call: the server is about to stop; retry later';
  expect(logged[1]).toEqual([
    'warn',
    { requestId: body.error.requestId, why },
    'http: request put off',
  ]);
});
