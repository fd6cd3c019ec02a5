/** Recogniser processes that start, late or not at all. */
import { expect, test } from 'vitest';
import type { FakeRecognizerProcess } from './fake-recognizer-process.ts';
import { ask, startFirst } from './started-pool.ts';

test('RecognizerPool starts one process, and the others when the first call comes', async () => {
  const { pool, processes, at } = await startFirst(3);
  const before = processes.length;

  const desk = pool.join();
  pool.join();
  ask(desk);

  expect([before, processes.length]).toEqual([1, 3]);
  expect(at(0).requests.length).toBe(1);
  expect(at(2).received).toMatchObject([{ kind: 'load', models: ['model'] }]);
});

test('RecognizerPool goes on with those that start, and says that one did not', async () => {
  const { pool, notes, at } = await startFirst(2);
  const desk = pool.join();

  at(1).says({ kind: 'loaded', outcome: { model: null, failures: ['gone'] } });
  at(1).exit('exit code 0');
  await new Promise(setImmediate);
  ask(desk);

  expect(notes).toEqual(['Recogniser could not be started: there is one less for now']);
  expect(at(0).requests.length).toBe(1);
});

/** A process could not load, and is gone. */
async function fails(process: FakeRecognizerProcess, why: string): Promise<void> {
  process.says({ kind: 'loaded', outcome: { model: null, failures: [why] } });
  process.exit('exit code 0');
  await new Promise(setImmediate);
}

test('RecognizerPool starts a process again that could not be started, with growing pauses, and tells it', async () => {
  const { pool, clock, processes, outcomes, at } = await startFirst(2);
  pool.join();

  await fails(at(1), 'no memory');
  clock.advance(999);
  const before = processes.length;
  clock.advance(1);
  await fails(at(2), 'no memory yet');
  clock.advance(1999);
  const between = processes.length;
  clock.advance(1);
  at(3).loads();
  await new Promise(setImmediate);
  ask(pool.join());
  ask(pool.join());

  expect([before, between, processes.length]).toEqual([2, 3, 4]);
  expect(outcomes.map(({ drawback }) => drawback)).toEqual([
    '1 of 2 processes could not be started and is tried again: no memory',
    '1 of 2 processes could not be started and is tried again: no memory yet',
    undefined,
  ]);
  expect([at(0).requests.length, at(3).requests.length]).toEqual([1, 1]);
});

test('RecognizerPool tries once a minute at last, and no more once it has stopped', async () => {
  const { pool, clock, processes, at } = await startFirst(2);
  pool.join();
  for (let index = 1; index <= 10; index += 1) {
    await fails(at(index), 'no memory');
    clock.advance(60_000);
  }
  const tried = processes.length;

  await fails(at(11), 'no memory');
  const stopped = pool.stop();
  at(0).exit('exit code 0');
  await stopped;
  clock.advance(3_600_000);

  expect(tried).toBe(12);
  expect(processes.length).toBe(12);
});

test('RecognizerPool starts no process once it has stopped', async () => {
  const { pool, processes, at } = await startFirst(2);
  const stopped = pool.stop();
  at(0).exit('exit code 0');
  await stopped;

  pool.join();

  expect(processes.length).toBe(1);
});
