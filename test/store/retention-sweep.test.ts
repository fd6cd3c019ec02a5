/** How long accounts keep their calls, as the server applies it. */
import { expect, test } from 'vitest';
import { KEEP_CALLS } from '../../src/domain/account/account.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { RetentionSweep } from '../../src/store/accounts/retention-rounds.ts';
import { addTalk } from '../support/store/build-talk.ts';
import { addAccount, openTestStore, STORE_NOW_MS } from '../support/store/test-store.ts';

const DAY_MS = 86_400_000;

async function openWorld() {
  const store = await openTestStore();
  const { accounts, accountRetention: retention, clock } = store;
  for (const id of ['acct_2', 'acct_3']) {
    addAccount(store, id, { retention: { ...KEEP_CALLS, callsDays: 30 } });
  }
  let ids = 0;
  const logged: object[] = [];
  const sweep = new RetentionSweep({
    accounts,
    retention,
    newId: (prefix) => {
      ids += 1;
      return `${prefix}_${ids}`;
    },
    clock,
    log: { ...silentLogger, info: (fields) => void logged.push(fields) },
  });
  const add = (accountId: string, count: number) => {
    const startedAt = new Date(STORE_NOW_MS - 31 * DAY_MS);
    for (let index = 0; index < count; index += 1) {
      addTalk(store, { id: `call_${accountId}_${index}`, accountId, startedAt });
    }
  };
  const left = () =>
    ['acct_1', 'acct_2', 'acct_3'].map((accountId) => {
      const scope = { accountId, environment: 'live' } as const;
      return store.calls.list(scope, { limit: 1, offset: 0 }).total;
    });
  return { store, clock, sweep, logged, add, left };
}

test('RetentionSweep goes through the accounts that keep calls for a time only, step by step', async () => {
  const { store, sweep, logged, add, left } = await openWorld();
  add('acct_1', 1);
  add('acct_2', 25);
  add('acct_3', 2);

  const steps = [1, 2, 3, 4].map(() => sweep.step());

  expect(steps).toEqual([true, true, false, false]);
  expect(left()).toEqual([1, 0, 0]);
  expect(logged).toEqual([
    { erasureId: 'ers_1', accountId: 'acct_2', calls: 25 },
    { erasureId: 'ers_2', accountId: 'acct_3', calls: 2 },
  ]);
  expect(store.erasures.list(9)).toMatchObject([
    { id: 'ers_2', kind: 'retention', askedBy: 'retention', calls: 2, recordings: 2 },
    { id: 'ers_1', calls: 25 },
  ]);
});

test('RetentionSweep looks again after ten minutes, by the account as it is then', async () => {
  const { store, clock, sweep, add, left } = await openWorld();
  while (sweep.step());
  add('acct_2', 1);
  add('acct_3', 1);
  const account = store.accounts.find('acct_3');
  if (account !== undefined) store.accounts.update({ ...account, retention: KEEP_CALLS });

  clock.advance(599_999);
  const early = sweep.step();
  const leftEarly = left();
  clock.advance(1);
  while (sweep.step());

  expect([early, leftEarly]).toEqual([false, [0, 1, 1]]);
  expect(left()).toEqual([0, 0, 1]);
  expect(store.erasures.list(9)).toHaveLength(1);
});
