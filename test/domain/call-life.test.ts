import { expect, test } from 'vitest';
import type { CallStatus } from '../../src/domain/call/call.ts';
import { durationSeconds, endCall, moveCall } from '../../src/domain/call/call-life.ts';
import { buildCall } from '../support/store/build-call.ts';

const STATUSES: readonly CallStatus[] = ['queued', 'ringing', 'in_progress', 'completed', 'failed'];

const ALLOWED = new Set([
  'queued ringing',
  'queued failed',
  'ringing in_progress',
  'ringing completed',
  'ringing failed',
  'in_progress completed',
  'in_progress failed',
]);

test.each(
  STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const)),
)('moveCall from %s to %s does what the table of moves says', (from, to) => {
  const move = () => moveCall(buildCall({ status: from }), to, { summary: 'moved' });

  if (ALLOWED.has(`${from} ${to}`)) expect(move()).toMatchObject({ status: to, summary: 'moved' });
  else expect(move).toThrow(`Cannot move call "call_1" to ${to}: it is ${from}`);
});

test.each([
  [0, 0],
  [1, 1],
  [1000, 1],
  [1001, 2],
  [61_500, 62],
  [-5, 0],
])('durationSeconds of %d ms is %d', (ms, seconds) => {
  expect(durationSeconds(new Date(0), new Date(ms))).toBe(seconds);
});

test('durationSeconds of a call that was never answered is 0', () => {
  expect(durationSeconds(null, new Date(60_000))).toBe(0);
});

test.each([
  ['answered and hung up', 'in_progress', true, 'user_hangup', 'completed'],
  ['answered and timed out', 'in_progress', true, 'timeout', 'completed'],
  ['answered and broken', 'in_progress', true, 'error', 'failed'],
  ['never answered', 'ringing', false, 'no_answer', 'failed'],
  ['queued and broken', 'queued', false, 'error', 'failed'],
] as const)('endCall of a call %s', (_case, status, isAnswered, endReason, expected) => {
  const answeredAt = isAnswered ? new Date('2026-11-20T12:00:03.000Z') : null;
  const endedAt = new Date('2026-11-20T12:00:10.200Z');

  const ended = endCall(buildCall({ status, answeredAt }), { endReason, endedAt });

  expect(ended).toMatchObject({
    status: expected,
    endReason,
    endedAt,
    durationSeconds: isAnswered ? 8 : 0,
  });
});

test('endCall refuses to end a call twice', () => {
  const call = buildCall({ status: 'completed' });

  expect(() => endCall(call, { endReason: 'error', endedAt: new Date() })).toThrow(
    'it is completed',
  );
});

test.each([
  ['that was answered', '2026-11-20T12:00:03.000Z', '2026-11-20T12:00:03.000Z'],
  ['that rang', null, '2026-11-20T12:00:00.000Z'],
])('endCall ends a call %s no earlier than it began, on a clock that was set back', (_case, answered, expected) => {
  const answeredAt = answered === null ? null : new Date(answered);
  const call = buildCall({ status: 'ringing', answeredAt });

  const ended = endCall(call, {
    endReason: 'user_hangup',
    endedAt: new Date('2026-11-20T11:00:00.000Z'),
  });

  expect(ended).toMatchObject({ endedAt: new Date(expected), durationSeconds: 0 });
});

test('endCall lets a call that was never dialled begin when it was asked for', () => {
  const call = buildCall({ status: 'queued', startedAt: null });

  const ended = endCall(call, { endReason: 'error', endedAt: new Date() });

  expect(ended.startedAt).toEqual(call.createdAt);
});
