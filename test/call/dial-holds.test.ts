/** What keeps waiting calls from being dialled, and what it costs to find out for a long queue. */
import { expect, test } from 'vitest';
import { dialHolds, type WaitingCall } from '../../src/call/outbound/outbound-queue.ts';
import type { CallingHours } from '../../src/domain/dialing/calling-hours.ts';

const NOW = new Date('2026-11-20T22:00:00.000Z');

const CLOSED: CallingHours = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: '09:00',
  until: '20:00',
  timeZone: 'Europe/London',
};

function waitingCall(fields: Partial<WaitingCall> = {}): WaitingCall {
  return {
    callId: 'call_1',
    accountId: 'acct_1',
    from: '+15550100001',
    country: 'IT',
    trunk: 'main',
    failureReason: null,
    notBeforeAt: null,
    expiresAt: null,
    expiresAtMs: null,
    ...fields,
  };
}

test('dialHolds applies the calling hours of each account to its own calls alone', async () => {
  const waiting = [
    waitingCall({ callId: 'call_1', accountId: 'acct_1' }),
    waitingCall({ callId: 'call_2', accountId: 'acct_2' }),
    waitingCall({ callId: 'call_3', accountId: 'acct_1', country: 'US' }),
  ];
  const hoursOf = async (accountId: string) => (accountId === 'acct_1' ? CLOSED : null);

  const holds = await dialHolds(waiting, { now: NOW, hoursOf });

  expect([...holds].map(([callId, why]) => [callId, why.split(', ').at(-1)])).toEqual([
    ['call_1', 'Europe/Rome.'],
    ['call_3', 'Europe/London.'],
  ]);
});

test('dialHolds names notBefore before the calling hours', async () => {
  const notBeforeAt = new Date('2026-11-25T12:00:00.000Z');

  const holds = await dialHolds([waitingCall({ notBeforeAt })], {
    now: NOW,
    hoursOf: async () => CLOSED,
  });

  expect(holds.get('call_1')).toBe('It is not to be dialled before 2026-11-25T12:00:00.000Z.');
});

test('dialHolds takes milliseconds for a full queue outside of the hours: it runs every second', async () => {
  const countries = ['IT', 'DE', 'US', 'RU', undefined];
  const waiting = Array.from({ length: 1000 }, (_, index) =>
    waitingCall({ callId: `call_${index}`, country: countries[index % countries.length] }),
  );
  const timesMs: number[] = [];

  for (let run = 0; run < 5; run += 1) {
    const startedMs = performance.now();
    const holds = await dialHolds(waiting, { now: NOW, hoursOf: async () => CLOSED });
    timesMs.push(performance.now() - startedMs);
    expect(holds.size).toBe(1000);
  }

  expect(Math.min(...timesMs)).toBeLessThan(50);
});
