import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Account, type CallRetention, KEEP_CALLS } from '../../src/domain/account/account.ts';
import type { ErasureOrder } from '../../src/domain/account/erasure.ts';
import { buildCall } from '../support/store/build-call.ts';
import { addTalk } from '../support/store/build-talk.ts';
import { foundIn } from '../support/store/found-in.ts';
import {
  addAccount,
  openTestStore,
  STORE_NOW_MS,
  type TestStore,
} from '../support/store/test-store.ts';
import { SCOPE } from '../support/webhook/webhook-world.ts';

const DAY_MS = 86_400_000;
const NOW = new Date(STORE_NOW_MS);

const ORDER: ErasureOrder = {
  id: 'ers_1',
  accountId: 'acct_1',
  environment: null,
  kind: 'retention',
  askedBy: 'retention',
  askedAt: NOW,
};

async function keeping(store: TestStore, retention: Partial<CallRetention>): Promise<Account> {
  const account = (await store.accounts.list()).find(({ id }) => id === 'acct_1');
  if (account === undefined) throw new Error('There is no account');
  await store.accounts.update({ ...account, retention: { ...KEEP_CALLS, ...retention } });
  return (await store.accounts.find('acct_1')) ?? account;
}

/** A call of each age, in days, named after it. */
async function openWith(ages: readonly number[]): Promise<TestStore> {
  const store = await openTestStore();
  for (const age of ages) {
    const startedAt = new Date(STORE_NOW_MS - age * DAY_MS - 1);
    await addTalk(store, { id: `call_${age}`, startedAt }, `words of ${age} days`);
  }
  return store;
}

const idsOf = async (store: TestStore) =>
  (await store.calls.list(SCOPE, { limit: 99, offset: 0 })).calls.map(({ id }) => id);

test('AccountRetention takes nothing of an account that keeps its calls', async () => {
  const store = await openWith([1000]);

  const touched = await store.accountRetention.apply(await keeping(store, {}), ORDER);

  expect(touched).toBe(0);
  expect(await store.erasures.list(9)).toEqual([]);
});

test('AccountRetention takes recordings, and leaves the rest of the call', async () => {
  const store = await openWith([31, 30, 29]);
  const account = await keeping(store, { recordingsDays: 30 });

  const touched = await store.accountRetention.apply(account, ORDER);

  expect(touched).toBe(2);
  expect(await store.leftovers.files(9)).toEqual([
    'recordings/call_30.wav',
    'recordings/call_31.wav',
  ]);
  expect(await store.calls.findById('call_30')).toMatchObject({
    recordingFile: null,
    summary: 'It was about words of 30 days',
    extracted: { words: 'words of 30 days' },
  });
  expect((await store.calls.findById('call_29'))?.recordingFile).toBe('recordings/call_29.wav');
  expect(await store.calls.transcript('call_31')).toHaveLength(2);
  expect(await store.accountRetention.apply(account, ORDER)).toBe(0);
});

test('AccountRetention takes words, and leaves the record, its mood and its recording', async () => {
  const store = await openWith([31, 29]);
  const account = await keeping(store, { transcriptsDays: 30 });

  const touched = await store.accountRetention.apply(account, ORDER);
  await store.leftovers.emptyLog();

  expect(touched).toBe(1);
  expect(await store.calls.transcript('call_31')).toEqual([]);
  expect(await store.events.listByCall('call_31')).toEqual([]);
  expect(await store.calls.findById('call_31')).toMatchObject({
    summary: null,
    extracted: null,
    success: null,
    sentiment: 'positive',
    recordingFile: 'recordings/call_31.wav',
  });
  expect(await store.calls.timeline('call_31')).not.toEqual([]);
  expect(await store.events.listByCall('call_29')).toHaveLength(3);
  expect(foundIn(store.folder, 'words of 31 days')).toEqual(['recordings/call_31.wav']);
  expect(await store.accountRetention.apply(account, ORDER)).toBe(0);
});

test('AccountRetention takes whole calls without a tombstone, and what they add up to stays', async () => {
  const store = await openWith([400, 10]);
  await addTalk(store, {
    ...{ id: 'call_test', environment: 'test' },
    startedAt: new Date(STORE_NOW_MS - 400 * DAY_MS),
  });
  const year = { firstDay: '2025-01-01', lastDay: '2026-11-20' };
  const before = await store.analytics.days(SCOPE, year);

  const touched = await store.accountRetention.apply(
    await keeping(store, { callsDays: 365 }),
    ORDER,
  );

  const sqlite = new Sqlite(store.file, { readonly: true });
  expect(touched).toBe(2);
  expect(await idsOf(store)).toEqual(['call_10']);
  expect(await store.calls.findById('call_test')).toBeUndefined();
  expect(await store.analytics.days(SCOPE, year)).toEqual(before);
  expect(sqlite.prepare('select * from erased_calls').all()).toEqual([]);
  sqlite.close();
});

test('AccountRetention leaves calls alone that are not over, or wait for their analysis, and other accounts', async () => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  const startedAt = new Date(STORE_NOW_MS - 99 * DAY_MS);
  const old = { startedAt, createdAt: startedAt };
  await store.calls.insert(buildCall({ id: 'call_live', ...old }), []);
  await addTalk(store, { id: 'call_other', accountId: 'acct_2', startedAt });
  const waiting = buildCall({ id: 'call_waiting', ...old, answeredAt: startedAt });
  await store.calls.insert({ ...waiting, status: 'in_progress' }, []);
  await store.calls.update(
    { ...waiting, status: 'completed', endedAt: startedAt, summary: 'Yes' },
    [],
  );

  const days = { callsDays: 100, transcriptsDays: 1, recordingsDays: 1 };
  const touched = await store.accountRetention.apply(await keeping(store, days), ORDER);

  expect(touched).toBe(0);
  expect((await store.calls.findById('call_waiting'))?.summary).toBe('Yes');
});

test('AccountRetention works in steps, and counts each thing once', async () => {
  const store = await openWith([...Array(30).keys()].map((age) => age + 2));
  const account = await keeping(store, { callsDays: 20, recordingsDays: 10, transcriptsDays: 15 });
  const counts = { calls: 12, recordings: 22, transcripts: 5 };
  const expected = await store.accountRetention.count(account, NOW);

  const steps: unknown[] = [];
  while (steps.length < 3) steps.push(await store.accountRetention.apply(account, ORDER));

  expect(expected).toEqual(counts);
  expect(steps).toEqual([20, 7, 0]);
  expect(await store.accountRetention.count(account, NOW)).toEqual({
    calls: 0,
    recordings: 0,
    transcripts: 0,
  });
  expect(await store.erasures.list(9)).toEqual([{ ...ORDER, ...counts, finishedAt: NOW }]);
});

test.each([
  ['recording_file is not null', 'calls_recorded (account_id=? AND sort_at<?)'],
  ['words_erased = 0', 'calls_with_words (account_id=? AND sort_at<?)'],
  [
    "environment in ('live', 'test')",
    'calls_by_time (account_id=? AND environment=? AND sort_at<?)',
  ],
])('The calls that are too old are found by an index: %s', async (condition, index) => {
  const store = await openWith([1]);
  const sqlite = new Sqlite(store.file, { readonly: true });
  const query = `select id from calls where account_id = +'acct_1' and ${condition} and sort_at < +1
    and ended_at is not null limit +20`;

  const plan = sqlite.prepare(`explain query plan ${query}`).all();

  expect(plan).toMatchObject([{ detail: expect.stringContaining(`USING INDEX ${index}`) }]);
  sqlite.close();
});
