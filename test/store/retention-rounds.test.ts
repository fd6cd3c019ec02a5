import { expect, test } from 'vitest';
import { PRUNED_ROWS_MAX } from '../../src/domain/account/account.ts';
import { StoreError } from '../../src/domain/service-error.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { RetentionRounds } from '../../src/store/accounts/retention-rounds.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const MINUTE_MS = 60_000;

type Pruning = number | Error;

/** Rounds over a store whose calls end as told, the last of them again and again. */
function openRounds(prunings: readonly Pruning[]) {
  const clock = new FakeClock();
  const prunedAtMs: number[] = [];
  const logged: string[] = [];
  const prune = async (now: Date) => {
    prunedAtMs.push(now.getTime());
    const pruning = prunings[prunedAtMs.length - 1] ?? prunings.at(-1) ?? 0;
    if (pruning instanceof Error) throw pruning;
    return pruning;
  };
  const log: Logger = {
    ...silentLogger,
    warn: () => logged.push('warn'),
    error: () => logged.push('error'),
  };
  const rounds = new RetentionRounds({ retention: { prune }, clock, log });
  return { clock, rounds, prunedAtMs, logged };
}

test('RetentionRounds prunes soon after the start and then every ten minutes', async () => {
  const { clock, rounds, prunedAtMs } = openRounds([0]);

  rounds.start();
  await clock.pass(25 * MINUTE_MS);

  expect(prunedAtMs).toEqual([50, 600_050, 1_200_050]);
});

test('RetentionRounds goes on at once while batches are full', async () => {
  const { clock, rounds, prunedAtMs } = openRounds([PRUNED_ROWS_MAX, PRUNED_ROWS_MAX, 999, 0]);

  rounds.start();
  await clock.pass(MINUTE_MS);

  expect(prunedAtMs).toEqual([50, 100, 150]);
});

test.each([
  ['of the store', new StoreError('Cannot use the database "x": it is locked', 'locked'), 'warn'],
  ['of ours', new TypeError('not a number'), 'error'],
])('RetentionRounds logs an error %s, and tries again at the next round', async (_case, error, level) => {
  const { clock, rounds, prunedAtMs, logged } = openRounds([error, 0]);

  rounds.start();
  await clock.pass(15 * MINUTE_MS);

  expect(logged).toEqual([level]);
  expect(prunedAtMs).toEqual([50, 600_050]);
});

test('RetentionRounds stops for good, also when stopped twice', async () => {
  const { clock, rounds, prunedAtMs } = openRounds([PRUNED_ROWS_MAX]);
  rounds.start();
  await clock.pass(120);

  await rounds.stop();
  await rounds.stop();
  await clock.pass(60 * MINUTE_MS);

  expect(prunedAtMs).toEqual([50, 100]);
  expect(clock.waiting).toBe(0);
});
