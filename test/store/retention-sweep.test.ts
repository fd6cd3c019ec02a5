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
    await addAccount(store, id, { retention: { ...KEEP_CALLS, callsDays: 30 } });
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
  const add = async (accountId: string, count: number) => {
    const startedAt = new Date(STORE_NOW_MS - 31 * DAY_MS);
    for (let index = 0; index < count; index += 1) {
      await addTalk(store, { id: `call_${accountId}_${index}`, accountId, startedAt });
    }
  };
  const left = () =>
    Promise.all(
      ['acct_1', 'acct_2', 'acct_3'].map(async (accountId) => {
        const scope = { accountId, environment: 'live' } as const;
        return (await store.calls.list(scope, { limit: 1, offset: 0 })).total;
      }),
    );
  return { store, clock, sweep, logged, add, left };
}

test('RetentionSweep goes through the accounts that keep calls for a time only, step by step', async () => {
  const { store, sweep, logged, add, left } = await openWorld();
  await add('acct_1', 1);
  await add('acct_2', 25);
  await add('acct_3', 2);

  const steps: unknown[] = [];
  while (steps.length < 4) steps.push(await sweep.step());

  expect(steps).toEqual([true, true, false, false]);
  expect(await left()).toEqual([1, 0, 0]);
  expect(logged).toEqual([
    { erasureId: 'ers_1', accountId: 'acct_2', calls: 25 },
    { erasureId: 'ers_2', accountId: 'acct_3', calls: 2 },
  ]);
  expect(await store.erasures.list(9)).toMatchObject([
    { id: 'ers_2', kind: 'retention', askedBy: 'retention', calls: 2, recordings: 2 },
    { id: 'ers_1', calls: 25 },
  ]);
});

test('RetentionSweep looks again after ten minutes, by the account as it is then', async () => {
  const { store, clock, sweep, add, left } = await openWorld();
  while (await sweep.step());
  await add('acct_2', 1);
  await add('acct_3', 1);
  const account = await store.accounts.find('acct_3');
  if (account !== undefined) await store.accounts.update({ ...account, retention: KEEP_CALLS });

  clock.advance(599_999);
  const early = await sweep.step();
  const leftEarly = await left();
  clock.advance(1);
  while (await sweep.step());

  expect([early, leftEarly]).toEqual([false, [0, 1, 1]]);
  expect(await left()).toEqual([0, 0, 1]);
  expect(await store.erasures.list(9)).toHaveLength(1);
});
