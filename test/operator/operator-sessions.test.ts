/** Sessions of the dashboard: how many there may be, how long they live, and which of them a password ends. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  SESSION_IDLE_MS,
  SESSION_LIFE_MS,
  SESSIONS_MAX,
} from '../../src/domain/account/operator.ts';
import { OperatorSessions } from '../../src/operator/operator-sessions.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function openSessions() {
  const clock = new FakeClock();
  const state = { record: 'now' };
  const sessions = new OperatorSessions({
    clock,
    random: (count) => randomBytes(count),
    passwordRecord: () => state.record,
  });
  const openMany = (count: number) =>
    Array.from({ length: count }, () => sessions.open('now').session.hash);
  return { clock, state, sessions, openMany };
}

test('OperatorSessions ends the session used longest ago for the 101st', () => {
  const { sessions, openMany } = openSessions();
  const first = sessions.open('now');
  const [second = '', ...others] = openMany(SESSIONS_MAX - 1);
  sessions.use(first.cookie);

  const { session } = sessions.open('now');

  expect(sessions.isAlive(second)).toBe(false);
  expect(
    [first.session.hash, ...others, session.hash].every((hash) => sessions.isAlive(hash)),
  ).toBe(true);
});

test('OperatorSessions makes room with sessions that are over before it ends one that is alive', () => {
  const { sessions, openMany } = openSessions();
  const [first = ''] = openMany(1);
  sessions.open('before');
  openMany(SESSIONS_MAX - 2);

  openMany(1);

  expect(sessions.isAlive(first)).toBe(true);
});

test.each([
  ['unused', SESSION_IDLE_MS, false],
  ['just before that', SESSION_IDLE_MS - 1, true],
])('OperatorSessions: a session %s for its longest idle time', (_case, ms, isAlive) => {
  const { clock, sessions } = openSessions();
  const { session, cookie } = sessions.open('now');

  clock.advance(ms);

  expect(sessions.isAlive(session.hash)).toBe(isAlive);
  expect(sessions.use(cookie)).toEqual(isAlive ? expect.objectContaining(session) : undefined);
});

test('OperatorSessions ends a session after its longest life, however much it is used', () => {
  const { clock, sessions } = openSessions();
  const { cookie } = sessions.open('now');
  const step = SESSION_IDLE_MS / 2;
  let lived = 0;

  while (sessions.use(cookie) !== undefined) {
    clock.advance(step);
    lived += step;
  }

  expect(lived).toBe(SESSION_LIFE_MS);
});

test('moveTo keeps one session under a new password, which ends the others', () => {
  const { state, sessions, openMany } = openSessions();
  const [own = '', other = ''] = openMany(2);
  state.record = 'new';

  sessions.moveTo(own, 'new');
  sessions.moveTo('unknown', 'new');

  expect([sessions.isAlive(own), sessions.isAlive(other)]).toEqual([true, false]);
});

test('end ends a session, and once more changes nothing', () => {
  const { sessions } = openSessions();
  const { session, cookie } = sessions.open('now');

  sessions.end(session.hash);
  sessions.end(session.hash);

  expect([sessions.isAlive(session.hash), sessions.use(cookie)]).toEqual([false, undefined]);
});
