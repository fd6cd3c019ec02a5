import { expect, test } from 'vitest';
import { windowOf } from '../../src/domain/rate-limit.ts';
import { openTestStore } from '../support/test-store.ts';

const NOON = windowOf(new Date('2026-11-20T12:30:00.000Z'));

const ONE = windowOf(new Date('2026-11-20T13:30:00.000Z'));

test('RateStore counts each subject by itself', async () => {
  const { rates } = await openTestStore();

  const counts = ['a', 'a', 'b', 'a'].map((subject) => rates.count(subject, NOON));

  expect(counts).toEqual([1, 2, 1, 3]);
});

test('RateStore begins anew with every window', async () => {
  const { rates } = await openTestStore();
  rates.count('a', NOON);
  rates.count('a', NOON);

  expect(rates.count('a', ONE)).toBe(1);
  expect(rates.count('a', ONE)).toBe(2);
});

test('RateStore forgets the subjects of windows that are over', async () => {
  const { rates, file } = await openTestStore();
  for (let index = 0; index < 50; index++) rates.count(`address:${index}`, NOON);

  rates.count('a', ONE);

  const { default: Sqlite } = await import('better-sqlite3');
  const sqlite = new Sqlite(file, { readonly: true });
  expect(sqlite.prepare('select subject from rate_counts').pluck().all()).toEqual(['a']);
  sqlite.close();
});

test('SecretStore makes a secret once and keeps it', async () => {
  const { secrets } = await openTestStore();

  const first = secrets.ensure('links', () => 'made first');
  const second = secrets.ensure('links', () => 'made second');

  expect([first, second, secrets.ensure('other', () => 'third')]).toEqual([
    'made first',
    'made first',
    'third',
  ]);
});
