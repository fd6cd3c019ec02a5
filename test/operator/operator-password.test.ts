/** The password's hash as it is worked out for real: dear for whoever guesses, cheap for the calls beside it. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { OperatorPassword } from '../../src/operator/operator-password.ts';
import { openTestStore } from '../support/store/test-store.ts';

/** A hash takes some hundreds of milliseconds: a thread that has to share its processor has its turn ten times meanwhile. */
const TURNS_MIN = 10;

test('OperatorPassword hashes with N = 2^17, while the event loop goes on with its work', async () => {
  const { secrets } = await openTestStore();
  const password = new OperatorPassword({ secrets, random: randomBytes });
  let turns = 0;
  const work = setInterval(() => {
    turns += 1;
  }, 1);

  const record = await password.set('correct horse battery', undefined);
  const turnsWhileSet = turns;
  const isRight = await password.isRight('correct horse battery', record ?? '');
  clearInterval(work);

  expect(record).toMatch(/^scrypt\$17\$8\$1\$/);
  expect(isRight).toBe(true);
  expect(turnsWhileSet).toBeGreaterThan(TURNS_MIN);
  expect(turns - turnsWhileSet).toBeGreaterThan(TURNS_MIN);
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
  expect(await password.record()).toBe(second);
});

test('OperatorPassword refuses a record that is none, and goes on', async () => {
  const { secrets } = await openTestStore();
  const password = new OperatorPassword({ secrets, random: randomBytes, costLog2: 4 });

  await expect(password.isRight('x', 'scrypt$4$8$1$')).rejects.toThrow('is no hash');

  expect(await password.set('correct horse battery', undefined)).toBeDefined();
});
