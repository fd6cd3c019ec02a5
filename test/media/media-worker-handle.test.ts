import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { MediaWorkerHandle, type ToWorker } from '../../src/media/engine/media-worker-handle.ts';

const PCM = new Int16Array(160);

/** A thread that only notes what it is sent: the kinds of each message that woke it. */
function handleOfListener() {
  const wakeUps: string[][] = [];
  const worker = Object.assign(new EventEmitter(), {
    postMessage: (batch: readonly ToWorker[]) => wakeUps.push(batch.map(({ kind }) => kind)),
  });
  const handle = new MediaWorkerHandle({
    settings: { drainMs: 0, isRealTime: false },
    startWorker: () => worker as unknown as Worker,
    log: silentLogger,
    onDied: () => undefined,
  });
  return { handle, wakeUps };
}

test('MediaWorkerHandle sends speech at once when little of what was said before is left', async () => {
  const { handle, wakeUps } = handleOfListener();

  handle.tell({ kind: 'begin', sessionId: 1, generation: 1 });
  handle.say({ sessionId: 1, generation: 1, pcm: PCM, aheadMs: 999 });
  await Promise.resolve();

  expect(wakeUps).toEqual([['begin', 'say']]);
});

test('MediaWorkerHandle sends speech that is wanted later together, and in order with what cannot wait', async () => {
  const { handle, wakeUps } = handleOfListener();

  handle.say({ sessionId: 1, generation: 1, pcm: PCM, aheadMs: 1_000 });
  await turn();
  handle.say({ sessionId: 2, generation: 1, pcm: PCM, aheadMs: 5_000 });
  await turn();
  const afterTwoTurns = wakeUps.length;
  handle.tell({ kind: 'finish', sessionId: 1, generation: 1 });
  await Promise.resolve();

  expect(afterTwoTurns).toBe(0);
  expect(wakeUps).toEqual([['say', 'say', 'finish']]);
});

test('MediaWorkerHandle sends speech that is wanted later by itself when nothing else comes', async () => {
  const { handle, wakeUps } = handleOfListener();

  handle.say({ sessionId: 1, generation: 1, pcm: PCM, aheadMs: 5_000 });
  await expect.poll(() => wakeUps).toEqual([['say']]);
  handle.tell({ kind: 'record', sessionId: 1, path: 'a.wav', atMs: 0 });
  await turn();

  expect(wakeUps).toEqual([['say'], ['record']]);
});
