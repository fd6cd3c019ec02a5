/** The counts behind the login back-off, and how many addresses they remember. */
import { expect, test } from 'vitest';
import { FREE_TRIES_OF_ALL, FREE_TRIES_OF_CLIENT } from '../../src/domain/account/user.ts';
import { LoginGuard } from '../../src/operator/dashboard.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function openGuard() {
  const guard = new LoginGuard(new FakeClock());
  const tryWrongly = (client: string, count: number) => {
    for (let tried = 0; tried < count; tried += 1) guard.begin(client);
  };
  return { guard, tryWrongly };
}

test('LoginGuard lets a client wait after its free tries, and others not', () => {
  const { guard, tryWrongly } = openGuard();

  tryWrongly('a', FREE_TRIES_OF_CLIENT - 1);
  const before = guard.waitMs('a');
  tryWrongly('a', 1);

  expect([before, guard.waitMs('a'), guard.waitMs('b')]).toEqual([0, 1000, 0]);
});

test('LoginGuard takes a try back from the client and from all', () => {
  const { guard, tryWrongly } = openGuard();
  tryWrongly('a', FREE_TRIES_OF_CLIENT - 1);
  tryWrongly('b', FREE_TRIES_OF_CLIENT);
  for (let host = 0; host < FREE_TRIES_OF_ALL - 2 * FREE_TRIES_OF_CLIENT; host += 1) {
    tryWrongly(`host ${host}`, 1);
  }

  const takeBack = guard.begin('a');
  const during = [guard.waitMs('a') > 0, guard.waitMs('stranger') > 0];
  takeBack();

  expect(during).toEqual([true, true]);
  expect([guard.waitMs('a'), guard.waitMs('stranger')]).toEqual([0, 0]);
  expect(guard.waitMs('b')).toBe(1000);
});

test('LoginGuard forgets of 10,001 clients the one that tried longest ago', () => {
  const { guard, tryWrongly } = openGuard();
  // Known clients wait for their own tries alone, not for those of the crowd.
  for (const client of ['first', 'second']) {
    guard.signedIn(client);
    tryWrongly(client, FREE_TRIES_OF_CLIENT);
  }
  for (let host = 0; host < 9998; host += 1) tryWrongly(`host ${host}`, 1);
  const before = guard.waitMs('first');

  tryWrongly('one more', 1);

  expect([before, guard.waitMs('first'), guard.waitMs('second')]).toEqual([1000, 0, 1000]);
});

test('LoginGuard knows the last 100 clients that signed in', () => {
  const { guard, tryWrongly } = openGuard();
  for (let host = 0; host < 100; host += 1) guard.signedIn(`host ${host}`);
  guard.signedIn('host 0');

  guard.signedIn('one more');
  for (let host = 200; host < 250; host += 1) tryWrongly(`host ${host}`, 1);

  const waits = ['host 0', 'host 1', 'host 2', 'one more'].map((client) => guard.waitMs(client));
  expect(waits).toEqual([0, 1000, 0, 0]);
});
