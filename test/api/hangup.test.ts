import { describe, expect, test } from 'vitest';
import type { Call } from '../../src/domain/call/call.ts';
import {
  addKey,
  FOREIGN_KEY,
  openTestApi,
  type RequestOptions,
  TEST_KEY,
} from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const READ_KEY = `svc_live_${'R'.repeat(32)}`;

/** An interface with one call, and a process that holds it, or not. */
async function openWorld(fields: Partial<Call>, isHeld = true) {
  const hungUp: string[] = [];
  const liveCalls = {
    holds: () => isHeld,
    hangUp: (callId: string) => {
      hungUp.push(callId);
      return isHeld;
    },
    transfer: () => 'not-in-progress' as const,
  };
  const api = await openTestApi({ liveCalls });
  await api.store.calls.insert(buildCall({ accountId: 'acct_main', ...fields }), []);
  const hangUp = (options: RequestOptions = {}, callId = 'call_1') =>
    api.json('POST', `/api/calls/${callId}/hangup`, options);
  return { api, hungUp, hangUp };
}

const QUEUED = { status: 'queued', direction: 'outbound', startedAt: null } as const;

const OVER = { endedAt: new Date('2026-11-20T12:01:00.000Z'), endReason: 'user_hangup' } as const;

describe('POST /api/calls/{callId}/hangup', () => {
  test('ends a queued call, with its event, and asks no process to hang up', async () => {
    const { api, hangUp, hungUp } = await openWorld(QUEUED);

    const answer = await hangUp();

    expect(answer).toEqual({ status: 202, body: { callId: 'call_1', status: 'failed' } });
    expect(await api.store.calls.findById('call_1')).toMatchObject({
      status: 'failed',
      endReason: 'no_answer',
      startedAt: buildCall().createdAt,
      endedAt: api.store.clock.now(),
    });
    expect((await api.store.events.listByCall('call_1')).map(({ kind }) => kind)).toEqual([
      'call.ended',
    ]);
    expect(await api.store.calls.queued('live', 'outbound', 10)).toEqual([]);
    expect(hungUp).toEqual([]);
  });

  test.each(['ringing', 'in_progress'] as const)('hangs up a call that is %s', async (status) => {
    const { hangUp, hungUp } = await openWorld({ status });

    const answer = await hangUp();

    expect(answer).toEqual({ status: 202, body: { callId: 'call_1', status } });
    expect(hungUp).toEqual(['call_1']);
  });

  test.each([
    ['completed', { status: 'completed', ...OVER }, true],
    ['failed', { status: 'failed', ...OVER }, true],
    ['no longer held by a process', { status: 'in_progress' }, false],
  ] as const)('answers 409 to a call that is %s', async (_what, fields, isHeld) => {
    const { hangUp } = await openWorld(fields, isHeld);

    expect(await hangUp()).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  });

  test('answers 409 to the second of two', async () => {
    const { hangUp } = await openWorld(QUEUED);

    const [first, second] = [await hangUp(), await hangUp()];

    expect([first.status, second.status]).toEqual([202, 409]);
  });

  test('repeats its answer to the same idempotency key', async () => {
    const { hangUp, hungUp } = await openWorld({ status: 'in_progress' });
    const headers = { 'X-Idempotency-Key': 'once' };

    const [first, second] = [await hangUp({ headers }), await hangUp({ headers })];

    expect(second).toEqual(first);
    expect(hungUp).toEqual(['call_1']);
  });

  test.each([
    ['a call that never was', {}, 'call_none', 404, 'CALL_NOT_FOUND'],
    ['a call of another account', { key: FOREIGN_KEY }, 'call_1', 404, 'CALL_NOT_FOUND'],
    ['a call of the other environment', { key: TEST_KEY }, 'call_1', 404, 'CALL_NOT_FOUND'],
    ['a client without a key', { key: null }, 'call_1', 401, 'UNAUTHORIZED'],
    ['a key that may only read', { key: READ_KEY }, 'call_1', 403, 'FORBIDDEN'],
  ] as const)('answers %s with its error', async (_what, options, callId, status, code) => {
    const { api, hangUp, hungUp } = await openWorld({ status: 'in_progress' });
    const facts = { accountId: 'acct_main', environment: 'live', scopes: ['calls:read'] } as const;
    await addKey(api.store, READ_KEY, facts);

    const answer = await hangUp(options, callId);

    expect(answer).toMatchObject({ status, body: { error: { code } } });
    expect(hungUp).toEqual([]);
  });
});
