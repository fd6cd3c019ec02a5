import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { windowOf } from '../../src/domain/account/rate-limit.ts';
import { StoreError } from '../../src/domain/service-error.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { openTestStore, type TestStore } from '../support/store/test-store.ts';

const NOON = windowOf(new Date('2026-11-20T12:30:00.000Z'));

const ONE = windowOf(new Date('2026-11-20T13:30:00.000Z'));

/** The store of a process that starts while the last one's is still as it left it. */
async function openAgain({ file, clock }: TestStore): Promise<Store> {
  const store = await openStore({ file, clock, log: silentLogger });
  onTestFinished(() => store.close());
  return store;
}

function rowsOf({ file }: TestStore): readonly unknown[] {
  const sqlite = new Sqlite(file, { readonly: true });
  const rows = sqlite.prepare('select subject, requests from rate_counts order by 1').raw().all();
  sqlite.close();
  return rows;
}

test('RateStore counts each subject by itself', async () => {
  const { rates } = await openTestStore();

  const counts = await Promise.all(
    ['a', 'a', 'b', 'a'].map((subject) => rates.count(subject, NOON)),
  );

  expect(counts).toEqual([1, 2, 1, 3]);
});

test('RateStore counts from zero in every window', async () => {
  const { rates } = await openTestStore();
  await rates.count('a', NOON);
  await rates.count('a', NOON);

  expect(await rates.count('a', ONE)).toBe(1);
  expect(await rates.count('a', ONE)).toBe(2);
});

test('RateStore forgets the subjects of windows that are over', async () => {
  const store = await openTestStore();
  for (let index = 0; index < 50; index++) await store.rates.count(`address:${index}`, NOON);

  await store.rates.count('a', ONE);
  await store.close();

  expect(rowsOf(store)).toEqual([['a', 1]]);
});

test('RateStore counts exactly over many blocks', async () => {
  const { rates } = await openTestStore();

  const counts = await Promise.all(Array.from({ length: 1200 }, () => rates.count('a', NOON)));

  expect(counts).toEqual(Array.from({ length: 1200 }, (_, index) => index + 1));
});

test('RateStore goes on exactly where a store that was closed has stopped', async () => {
  const store = await openTestStore();
  for (let index = 0; index < 27; index++) await store.rates.count('a', NOON);
  await store.rates.count('b', NOON);

  await store.close();
  await store.close();

  expect(rowsOf(store)).toEqual([
    ['a', 27],
    ['b', 1],
  ]);
  const next = await openAgain(store);
  expect(await next.rates.count('a', NOON)).toBe(28);
  expect(await next.rates.count('b', NOON)).toBe(2);
});

test('RateStore charges at most 20 too many, and forgives none, after a process that died', async () => {
  const store = await openTestStore();
  for (let index = 0; index < 27; index++) await store.rates.count('a', NOON);

  const next = await openAgain(store);

  const count = await next.rates.count('a', NOON);
  expect(count).toBeGreaterThan(27);
  expect(count).toBeLessThanOrEqual(28 + 20);
});

test('RateStore gives no request of two processes the same number', async () => {
  const store = await openTestStore();
  const next = await openAgain(store);

  const counts = new Set<number>();
  for (let turn = 0; turn < 50; turn += 1) {
    counts.add(await store.rates.count('a', NOON));
    counts.add(await next.rates.count('a', NOON));
  }

  expect(counts.size).toBe(100);
});

test('RateStore counts without the database until a block is used up', async () => {
  const store = await openTestStore();
  await store.rates.count('a', NOON);
  const other = new Sqlite(store.file);
  other.exec('begin immediate');

  const during = await Promise.all(Array.from({ length: 19 }, () => store.rates.count('a', NOON)));

  expect(during.at(-1)).toBe(20);
  await expect(store.rates.count('a', NOON)).rejects.toThrow(StoreError);
  other.close();
  expect(await store.rates.count('a', NOON)).toBe(21);
});

test('RateStore stays exact for a subject that made room for others', async () => {
  const { rates } = await openTestStore();
  for (let index = 0; index <= 10_000; index++) await rates.count(`address:${index}`, NOON);

  expect(await rates.count('address:0', NOON)).toBe(2);
  expect(await rates.count('address:10000', NOON)).toBe(2);
});

test('SecretStore makes a secret once and keeps it', async () => {
  const { secrets } = await openTestStore();

  const first = await secrets.ensure('links', () => 'made first');
  const second = await secrets.ensure('links', () => 'made second');

  expect([first, second, await secrets.ensure('other', () => 'third')]).toEqual([
    'made first',
    'made first',
    'third',
  ]);
});
