/** The real password hash: expensive to guess, cheap for calls in progress. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { PasswordHasher } from '../../src/operator/password-hasher.ts';

/** A hash takes some hundreds of milliseconds: a thread that has to share its processor has its turn ten times meanwhile. */
const TURNS_MIN = 10;

test('PasswordHasher hashes with N = 2^17, while the event loop goes on with its work', async () => {
  const password = new PasswordHasher({ random: randomBytes });
  let turns = 0;
  const work = setInterval(() => {
    turns += 1;
  }, 1);

  const record = await password.record('correct horse battery');
  const turnsWhileSet = turns;
  const isRight = await password.isRight('correct horse battery', record);
  clearInterval(work);

  expect(record).toMatch(/^scrypt\$17\$8\$1\$/);
  expect(isRight).toBe(true);
  expect(turnsWhileSet).toBeGreaterThan(TURNS_MIN);
  expect(turns - turnsWhileSet).toBeGreaterThan(TURNS_MIN);
});

test('PasswordHasher reads what another cost made', async () => {
  const cheap = new PasswordHasher({ random: randomBytes, costLog2: 4 });
  const record = await cheap.record('correct horse battery');

  const dearer = new PasswordHasher({ random: randomBytes, costLog2: 6 });

  expect(await dearer.isRight('correct horse battery', record)).toBe(true);
  expect(await dearer.isRight('correct horse batterz', record)).toBe(false);
});

test('PasswordHasher gives equal passwords different records', async () => {
  const password = new PasswordHasher({ random: randomBytes, costLog2: 4 });
  const first = await password.record('correct horse battery');

  const second = await password.record('correct horse battery');

  expect(second).not.toBe(first);
});

test('PasswordHasher refuses a record that is none, and goes on', async () => {
  const password = new PasswordHasher({ random: randomBytes, costLog2: 4 });

  await expect(password.isRight('x', 'scrypt$4$8$1$')).rejects.toThrow('is no hash');

  expect(await password.record('correct horse battery')).toBeDefined();
});

test('PasswordHasher finds no password right where there is no record, after as much work', async () => {
  const password = new PasswordHasher({ random: randomBytes, costLog2: 14 });
  const record = await password.record('correct horse battery');
  const msOf = async (of: string | null) => {
    const startMs = performance.now();
    expect(await password.isRight('another horse', of)).toBe(false);
    return performance.now() - startMs;
  };

  const [knownMs, unknownMs] = [await msOf(record), await msOf(null)];

  expect(unknownMs).toBeGreaterThan(knownMs / 4);
});
