import { expect, test } from 'vitest';
import { DrainQueue } from '../../src/media/engine/media-engine.ts';
import type { ToWorker } from '../../src/media/engine/media-worker-handle.ts';

/** A worker that answers for its sessions: `true` frees the ports, `false` keeps them. */
function workerOf(queue: DrainQueue, answers: Readonly<Record<number, boolean>>) {
  const asked: number[] = [];
  const tell = (message: ToWorker) => {
    if (message.kind !== 'reclaim') return;
    asked.push(message.sessionId);
    queueMicrotask(() => queue.settle(message.sessionId, answers[message.sessionId] ?? false));
  };
  return { asked, worker: { tell } };
}

test('DrainQueue frees the ports of the session that has drained longest', async () => {
  const queue = new DrainQueue();
  const { asked, worker } = workerOf(queue, { 1: true, 2: true });
  queue.add(1, worker);
  queue.add(2, worker);

  const isFree = await queue.reclaim();

  expect(isFree).toBe(true);
  expect(asked).toEqual([1]);
});

test('DrainQueue goes on to the next session while one still hears something', async () => {
  const queue = new DrainQueue();
  const { asked, worker } = workerOf(queue, { 1: false, 2: true });
  queue.add(1, worker);
  queue.add(2, worker);

  const isFree = await queue.reclaim();

  expect(isFree).toBe(true);
  expect(asked).toEqual([1, 2]);
});

test('DrainQueue gives up after a few sessions that all still hear something', async () => {
  const queue = new DrainQueue();
  const { asked, worker } = workerOf(queue, {});
  for (let session = 1; session <= 20; session += 1) queue.add(session, worker);

  const isFree = await queue.reclaim();

  expect(isFree).toBe(false);
  expect(asked).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('DrainQueue asks for different sessions at one time', async () => {
  const queue = new DrainQueue();
  const { asked, worker } = workerOf(queue, { 1: true, 2: true });
  queue.add(1, worker);
  queue.add(2, worker);

  const freed = await Promise.all([queue.reclaim(), queue.reclaim()]);

  expect(freed).toEqual([true, true]);
  expect(asked).toEqual([1, 2]);
});

test('DrainQueue has nothing to give when no session drains', async () => {
  const queue = new DrainQueue();

  const isFree = await queue.reclaim();

  expect(isFree).toBe(false);
});
