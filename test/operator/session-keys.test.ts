/** The dashboard's keys in memory: how long they live, and how many a session has. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashOfKey } from '../../src/domain/account/api-key.ts';
import {
  KEYS_A_SESSION_MAX,
  OPERATOR_KEY_LIFE_MS,
  type User,
} from '../../src/domain/account/user.ts';
import { SessionKeys } from '../../src/operator/operator-sessions.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const SCOPE = { accountId: 'acct_1', environment: 'test' } as const;

const USER: User = {
  ...{ id: 'usr_1', name: 'admin', role: 'admin' },
  ...{ createdAt: new Date(0), lastSignInAt: null, disabledAt: null },
};

function openKeys() {
  const clock = new FakeClock();
  const dead = new Set<string>();
  let made = 0;
  const keys = new SessionKeys({
    clock,
    random: (count) => randomBytes(count),
    newId: (prefix) => {
      made += 1;
      return `${prefix}_${made}`;
    },
    userOf: async (session) => (dead.has(session) ? undefined : USER),
  });
  const make = (session: string) => hashOfKey(keys.make(session, SCOPE).keyText);
  return { clock, dead, keys, make };
}

test('SessionKeys makes a key of the environment, which says when it dies', async () => {
  const { clock, keys } = openKeys();
  clock.advance(5);

  const { keyText, expiresAt } = keys.make('session', SCOPE);
  const found = await keys.findByHash(hashOfKey(keyText));

  expect(keyText).toMatch(/^svc_test_/);
  expect(expiresAt.getTime()).toBe(5 + OPERATOR_KEY_LIFE_MS);
  expect(found?.apiKey).toMatchObject({ ...SCOPE, id: 'key_1', name: 'Dashboard' });
  expect(found?.user).toBe(USER);
});

test('SessionKeys: a key dies after its life, and not before', async () => {
  const { clock, keys, make } = openKeys();
  const hash = make('session');

  clock.advance(OPERATOR_KEY_LIFE_MS - 1);
  const before = [(await keys.findByHash(hash)) !== undefined, await keys.isAlive('key_1')];
  clock.advance(1);

  expect(before).toEqual([true, true]);
  expect([await keys.findByHash(hash), await keys.isAlive('key_1')]).toEqual([undefined, false]);
});

test('SessionKeys: keys die with their session, those of others live', async () => {
  const { dead, keys, make } = openKeys();
  const [own, other] = [make('session'), make('other')];

  dead.add('session');

  expect([await keys.findByHash(own), await keys.isAlive('key_1')]).toEqual([undefined, false]);
  expect([(await keys.findByHash(other))?.apiKey.id, await keys.isAlive('key_2')]).toEqual([
    'key_2',
    true,
  ]);
});

async function areFound(keys: SessionKeys, hashes: readonly string[]): Promise<boolean> {
  const found = await Promise.all(hashes.map((hash) => keys.findByHash(hash)));
  return found.every((key) => key !== undefined);
}

test('SessionKeys takes away the oldest key of a session for the 21st, and none of another', async () => {
  const { keys, make } = openKeys();
  const other = make('other');
  const own = Array.from({ length: KEYS_A_SESSION_MAX }, () => make('session'));
  const before = await areFound(keys, own);

  const last = make('session');

  const alive: boolean[] = [];
  for (const hash of [...own, last, other]) {
    alive.push((await keys.findByHash(hash)) !== undefined);
  }
  expect(before).toBe(true);
  expect(alive).toEqual([false, ...Array(KEYS_A_SESSION_MAX + 1).fill(true)]);
  // The first one was `key_1`, of the other session.
  expect([await keys.isAlive('key_1'), await keys.isAlive('key_2')]).toEqual([true, false]);
});

test('SessionKeys: keys that have died take no room', async () => {
  const { clock, keys, make } = openKeys();
  for (let made = 0; made < KEYS_A_SESSION_MAX - 1; made += 1) make('session');
  clock.advance(1);
  const young = make('session');
  clock.advance(OPERATOR_KEY_LIFE_MS - 1);

  const others = Array.from({ length: KEYS_A_SESSION_MAX - 1 }, () => make('session'));

  expect(await areFound(keys, [young, ...others])).toBe(true);
});

test('SessionKeys knows no other key', async () => {
  const { keys } = openKeys();

  expect([await keys.findByHash('none'), await keys.isAlive('none')]).toEqual([undefined, false]);
});
