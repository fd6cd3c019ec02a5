/** What a database that another process has locked costs the thread that also holds the calls. */
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { StoreError } from '../../src/domain/service-error.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore, type TestStore } from '../support/store/test-store.ts';

/** Takes the write lock as another process does. @returns lets it go. */
function lock(store: TestStore): () => void {
  const other = new Sqlite(store.file);
  onTestFinished(() => void other.close());
  other.exec('begin immediate');
  return () => other.exec('commit');
}

/** How long twenty refused writes keep the thread, in milliseconds. */
async function refusedMs(store: TestStore): Promise<number> {
  const beganAtMs = performance.now();
  for (let write = 0; write < 20; write += 1) {
    await expect(store.calls.insert(buildCall({ id: `call_${write}` }), [])).rejects.toThrow(
      StoreError,
    );
  }
  return performance.now() - beganAtMs;
}

test('Database waits for a lock once, and not in every write that follows', async () => {
  const store = await openTestStore();
  lock(store);

  const tookMs = await refusedMs(store);

  // Twenty waits of 100 ms would be 2 s.
  expect(tookMs).toBeLessThan(1000);
});

test('Database waits again for a short lock once it could write', async () => {
  const store = await openTestStore();
  const letGo = lock(store);
  await refusedMs(store);
  letGo();
  await store.calls.insert(buildCall({ id: 'call_after' }), []);
  lock(store);

  const beganAtMs = performance.now();
  await expect(store.probe()).rejects.toThrow(StoreError);

  expect(performance.now() - beganAtMs).toBeGreaterThan(80);
});
