import { expect, test } from 'vitest';
import { DrainQueue } from '../../src/media/engine/media-engine.ts';
import type { ToWorker } from '../../src/media/engine/media-protocol.ts';

/** A worker that answers for its lines: `true` frees the ports, `false` keeps them. */
function workerOf(queue: DrainQueue, answers: Readonly<Record<number, boolean>>) {
  const asked: number[] = [];
  const tell = (message: ToWorker) => {
    if (message.kind !== 'reclaim') return;
    asked.push(message.line);
    queueMicrotask(() => queue.settle(message.line, answers[message.line] ?? false));
  };
  return { asked, worker: { tell } };
}

test('DrainQueue frees the ports of the line that has drained longest', async () => {
  const queue = new DrainQueue();
  const { asked, worker } = workerOf(queue, { 1: true, 2: true });
  queue.add(1, worker);
  queue.add(2, worker);

  const isFree = await queue.reclaim();

  expect(isFree).toBe(true);
  expect(asked).toEqual([1]);
});

test('DrainQueue goes on to the next line while one still hears something', async () => {
  const queue = new DrainQueue();
  const { asked, worker } = workerOf(queue, { 1: false, 2: true });
  queue.add(1, worker);
  queue.add(2, worker);

  const isFree = await queue.reclaim();

  expect(isFree).toBe(true);
  expect(asked).toEqual([1, 2]);
});

test('DrainQueue gives up after a few lines that all still hear something', async () => {
  const queue = new DrainQueue();
  const { asked, worker } = workerOf(queue, {});
  for (let line = 1; line <= 20; line += 1) queue.add(line, worker);

  const isFree = await queue.reclaim();

  expect(isFree).toBe(false);
  expect(asked).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('DrainQueue asks for different lines at one time', async () => {
  const queue = new DrainQueue();
  const { asked, worker } = workerOf(queue, { 1: true, 2: true });
  queue.add(1, worker);
  queue.add(2, worker);

  const freed = await Promise.all([queue.reclaim(), queue.reclaim()]);

  expect(freed).toEqual([true, true]);
  expect(asked).toEqual([1, 2]);
});

test('DrainQueue has nothing to give when no line drains', async () => {
  const queue = new DrainQueue();

  const isFree = await queue.reclaim();

  expect(isFree).toBe(false);
});
