/** The password's hash as it is worked out for real: dear for whoever guesses, cheap for the calls beside it. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { OperatorPassword } from '../../../src/api/dashboard/operator-password.ts';
import { openTestStore } from '../../support/test-store.ts';

const BUSY_MS_MAX = 50;

function millisecondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

test('OperatorPassword hashes with N = 2^17 and keeps the event loop free meanwhile', async () => {
  const { secrets } = await openTestStore();
  const password = new OperatorPassword({ secrets, random: randomBytes });
  // What this thread did itself: another program's turn on the processor is no fault of ours.
  const [thread, all] = [process.threadCpuUsage(), process.cpuUsage()];

  const record = await password.set('correct horse battery', undefined);
  const isRight = await password.isRight('correct horse battery', record ?? '');

  const ownMs = millisecondsOf(process.threadCpuUsage(thread));
  const wholeMs = millisecondsOf(process.cpuUsage(all));
  expect(record).toMatch(/^scrypt\$17\$8\$1\$/);
  expect(isRight).toBe(true);
  expect(ownMs).toBeLessThan(BUSY_MS_MAX);
  expect(wholeMs).toBeGreaterThan(4 * BUSY_MS_MAX);
});

test('OperatorPassword reads what another cost made', async () => {
  const { secrets } = await openTestStore();
  const cheap = new OperatorPassword({ secrets, random: randomBytes, costLog2: 4 });
  const record = (await cheap.set('correct horse battery', undefined)) ?? '';

  const dearer = new OperatorPassword({ secrets, random: randomBytes, costLog2: 6 });

  expect(await dearer.isRight('correct horse battery', record)).toBe(true);
  expect(await dearer.isRight('correct horse batterz', record)).toBe(false);
});

test('OperatorPassword gives equal passwords different records', async () => {
  const { secrets } = await openTestStore();
  const password = new OperatorPassword({ secrets, random: randomBytes, costLog2: 4 });
  const first = await password.set('correct horse battery', undefined);

  const second = await password.set('correct horse battery', first);

  expect(second).not.toBe(first);
  expect(await password.set('another', first)).toBeUndefined();
  expect(password.record).toBe(second);
});

test('OperatorPassword refuses a record that is none, and goes on', async () => {
  const { secrets } = await openTestStore();
  const password = new OperatorPassword({ secrets, random: randomBytes, costLog2: 4 });

  await expect(password.isRight('x', 'scrypt$4$8$1$')).rejects.toThrow('is no hash');

  expect(await password.set('correct horse battery', undefined)).toBeDefined();
});
