/** Sessions of the dashboard: how many there may be, how long they live, and which of them a password ends. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  SESSION_IDLE_MS,
  SESSION_LIFE_MS,
  SESSIONS_MAX,
  type StoredUser,
} from '../../src/domain/account/user.ts';
import { OperatorSessions } from '../../src/operator/operator-sessions.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const USER: StoredUser = {
  ...{ id: 'usr_1', name: 'admin', role: 'admin', password: null, stamp: 2 },
  ...{ createdAt: new Date(0), lastSignInAt: null, disabledAt: null },
};

function openSessions() {
  const clock = new FakeClock();
  const state = { user: USER as StoredUser | undefined };
  const sessions = new OperatorSessions({
    clock,
    random: (count) => randomBytes(count),
    findUser: async () => state.user,
  });
  const openMany = async (count: number) => {
    const hashes: string[] = [];
    while (hashes.length < count) hashes.push((await sessions.open(USER)).session.hash);
    return hashes;
  };
  return { clock, state, sessions, openMany };
}

test('OperatorSessions ends the session used longest ago for the 101st', async () => {
  const { sessions, openMany } = openSessions();
  const first = await sessions.open(USER);
  const [second = '', ...others] = await openMany(SESSIONS_MAX - 1);
  await sessions.use(first.cookie);

  const { session } = await sessions.open(USER);

  expect(await sessions.isAlive(second)).toBe(false);
  for (const hash of [first.session.hash, ...others, session.hash]) {
    expect(await sessions.isAlive(hash)).toBe(true);
  }
});

test('OperatorSessions makes room with sessions that are over before it ends one that is alive', async () => {
  const { sessions, openMany } = openSessions();
  const [first = ''] = await openMany(1);
  await sessions.open({ ...USER, stamp: 1 });
  await openMany(SESSIONS_MAX - 2);

  await openMany(1);

  expect(await sessions.isAlive(first)).toBe(true);
});

test.each([
  ['unused', SESSION_IDLE_MS, false],
  ['just before that', SESSION_IDLE_MS - 1, true],
])('OperatorSessions: a session %s for its longest idle time', async (_case, ms, isAlive) => {
  const { clock, sessions } = openSessions();
  const { session, cookie } = await sessions.open(USER);

  clock.advance(ms);

  expect(await sessions.isAlive(session.hash)).toBe(isAlive);
  expect(await sessions.use(cookie)).toEqual(
    isAlive ? expect.objectContaining(session) : undefined,
  );
});

test('OperatorSessions ends a session after its longest life, however much it is used', async () => {
  const { clock, sessions } = openSessions();
  const { cookie } = await sessions.open(USER);
  const step = SESSION_IDLE_MS / 2;
  let lived = 0;

  while ((await sessions.use(cookie)) !== undefined) {
    clock.advance(step);
    lived += step;
  }

  expect(lived).toBe(SESSION_LIFE_MS);
});

test('moveTo keeps one session under a new password, which ends the others', async () => {
  const { state, sessions, openMany } = openSessions();
  const [own = '', other = ''] = await openMany(2);
  const changed = { ...USER, stamp: 3 };
  state.user = changed;

  sessions.moveTo(own, changed);
  sessions.moveTo('unknown', changed);

  expect([await sessions.isAlive(own), await sessions.isAlive(other)]).toEqual([true, false]);
});

test('end ends a session, and once more changes nothing', async () => {
  const { sessions } = openSessions();
  const { session, cookie } = await sessions.open(USER);

  sessions.end(session.hash);
  sessions.end(session.hash);

  expect([await sessions.isAlive(session.hash), await sessions.use(cookie)]).toEqual([
    false,
    undefined,
  ]);
});

test('OperatorSessions lets two requests use one session at the same time', async () => {
  const { sessions } = openSessions();
  const { session, cookie } = await sessions.open(USER);

  const used = await Promise.all([sessions.use(cookie), sessions.use(cookie)]);

  expect(used).toEqual([session, session]);
});

test('OperatorSessions does not bring back a session that ends while it is used', async () => {
  const { sessions } = openSessions();
  const { session, cookie } = await sessions.open(USER);

  const using = sessions.use(cookie);
  sessions.end(session.hash);

  expect(await using).toBeUndefined();
  expect(await sessions.isAlive(session.hash)).toBe(false);
});

test.each<[string, Partial<StoredUser> | undefined]>([
  ['is removed', undefined],
  ['is disabled', { disabledAt: new Date(1) }],
  ['has another role or password', { stamp: 3 }],
])('OperatorSessions ends a session at once when its user %s', async (_case, change) => {
  const { state, sessions } = openSessions();
  const { session, cookie } = await sessions.open(USER);

  state.user = change && { ...USER, ...change };

  expect(await sessions.isAlive(session.hash)).toBe(false);
  expect(await sessions.use(cookie)).toBeUndefined();
});
