/** `POST /api/calls/{callId}/transfer`: who may hand which call over, to where. */
import { expect, test } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import type { LiveCalls, TransferStart } from '../../src/domain/call/live-sound.ts';
import {
  addKey,
  FOREIGN_KEY,
  openTestApi,
  type RequestOptions,
  TEST_KEY,
} from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';

const READ_KEY = `svc_live_${'R'.repeat(32)}`;
const TARGET = '+390612345678';
const OURS = '+390698765432';

/** An interface with one call, and a process that hands it over, or says why not. */
async function openWorld(fields: Partial<Call> = {}, start: TransferStart = 'begun') {
  const transfers: string[] = [];
  const manners: unknown[] = [];
  const liveCalls: LiveCalls = {
    holds: () => true,
    hangUp: () => false,
    transfer: (callId, number, manner) => {
      transfers.push(`${callId} ${number}`);
      manners.push(manner);
      return start;
    },
  };
  const api = await openTestApi({ liveCalls });
  const call = { accountId: 'acct_main', status: 'in_progress', to: OURS, ...fields } as const;
  await api.store.calls.insert(buildCall(call), []);
  await api.store.agents.insert(buildAgent({ accountId: 'acct_main', phoneNumber: OURS }));
  const transfer = (options: RequestOptions = {}, callId = 'call_1') =>
    api.json('POST', `/api/calls/${callId}/transfer`, { body: { to: TARGET }, ...options });
  return { api, transfers, manners, transfer };
}

test('POST /api/calls/{callId}/transfer begins to hand the caller over', async () => {
  const { transfer, transfers } = await openWorld();

  const answer = await transfer();

  expect(answer).toEqual({
    status: 202,
    body: { id: 'call_1', callId: 'call_1', status: 'transferring' },
  });
  expect(transfers).toEqual([`call_1 ${TARGET}`]);
});

test.each([
  [{}, { mode: 'cold', summary: '' }],
  [{ mode: 'cold' }, { mode: 'cold', summary: '' }],
  [
    { mode: 'warm', summary: 'a refund' },
    { mode: 'warm', summary: 'a refund' },
  ],
  [
    { mode: 'three-way', summary: '' },
    { mode: 'three-way', summary: '' },
  ],
])('POST /api/calls/{callId}/transfer takes %o', async (fields, expected) => {
  const { transfer, manners } = await openWorld();

  const { status } = await transfer({ body: { to: TARGET, ...fields } });

  expect(status).toBe(202);
  expect(manners).toEqual([expected]);
});

test.each([
  'queued',
  'ringing',
  'completed',
  'failed',
] as const)('POST /api/calls/{callId}/transfer answers 409 to a call that is %s', async (status) => {
  const { transfer, transfers } = await openWorld({ status });

  expect(await transfer()).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  expect(transfers).toEqual([]);
});

test.each([
  ['not-in-progress', 'it is not in progress'],
  ['transferring', 'it is being transferred already'],
  ['transferred', 'its caller was transferred already'],
] as const)('POST /api/calls/{callId}/transfer answers 409 where the call is %s', async (start, why) => {
  const { transfer } = await openWorld({}, start);

  const { status, body } = await transfer();

  expect([status, body.error.message]).toEqual([409, `Cannot transfer the call: ${why}`]);
});

test('POST /api/calls/{callId}/transfer answers 429 to the end of the UTC day where its agent had its transfers', async () => {
  const { api, transfer } = await openWorld({}, 'too-many-today');
  const now = api.store.clock.now();

  const { status, body } = await transfer();
  const answer = await api.request('POST', '/api/calls/call_1/transfer', { body: { to: TARGET } });

  const waitSeconds = Number(answer.headers.get('retry-after'));
  const end = new Date(now.getTime() + waitSeconds * 1000);
  expect([status, body.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect(waitSeconds).toBeLessThanOrEqual(86_400);
  expect(end.toISOString()).toMatch(/T00:00:00\.\d{3}Z$/);
});

test.each([
  ['no number', { to: '112' }, 422, 'UNPROCESSABLE'],
  ['our own number', { to: OURS }, 422, 'UNPROCESSABLE'],
  ['nothing', {}, 400, 'VALIDATION_ERROR'],
  ['a number that is none', { to: 7 }, 400, 'VALIDATION_ERROR'],
  ['more than it knows', { to: TARGET, label: 'x' }, 400, 'VALIDATION_ERROR'],
  ['a way that is none', { to: TARGET, mode: 'hot' }, 400, 'VALIDATION_ERROR'],
  ['a summary that is too long', { to: TARGET, summary: 'x'.repeat(501) }, 400, 'VALIDATION_ERROR'],
])('POST /api/calls/{callId}/transfer refuses %s', async (_what, body, status, code) => {
  const { transfer, transfers } = await openWorld();

  expect(await transfer({ body })).toMatchObject({ status, body: { error: { code } } });
  expect(transfers).toEqual([]);
});

test('POST /api/calls/{callId}/transfer repeats its answer to the same idempotency key', async () => {
  const { transfer, transfers } = await openWorld();
  const headers = { 'X-Idempotency-Key': 'once' };

  const [first, second] = [await transfer({ headers }), await transfer({ headers })];

  expect(second).toEqual(first);
  expect(transfers).toHaveLength(1);
});

test.each([
  ['a call that never was', {}, 'call_none', 404, 'CALL_NOT_FOUND'],
  ['a call of another account', { key: FOREIGN_KEY }, 'call_1', 404, 'CALL_NOT_FOUND'],
  ['a call of the other environment', { key: TEST_KEY }, 'call_1', 404, 'CALL_NOT_FOUND'],
  ['a client without a key', { key: null }, 'call_1', 401, 'UNAUTHORIZED'],
  ['a key that may only read', { key: READ_KEY }, 'call_1', 403, 'FORBIDDEN'],
] as const)('POST /api/calls/{callId}/transfer answers %s with its error', async (_what, options, callId, status, code) => {
  const { api, transfer, transfers } = await openWorld();
  const facts = { accountId: 'acct_main', environment: 'live', scopes: ['calls:read'] } as const;
  await addKey(api.store, READ_KEY, facts);

  expect(await transfer(options, callId)).toMatchObject({ status, body: { error: { code } } });
  expect(transfers).toEqual([]);
});
