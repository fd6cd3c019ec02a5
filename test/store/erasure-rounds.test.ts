/** What erasures leave to be done on the disk, also after a crash. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { KEEP_CALLS } from '../../src/domain/account/account.ts';
import type { ErasureOrder } from '../../src/domain/account/erasure.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { ErasureRounds } from '../../src/store/accounts/retention-rounds.ts';
import { buildCall } from '../support/store/build-call.ts';
import { addTalk } from '../support/store/build-talk.ts';
import { foundIn } from '../support/store/found-in.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

type Leftovers = ConstructorParameters<typeof ErasureRounds>[0]['leftovers'];

const NOW = new Date(STORE_NOW_MS);
const CALLER = '+390699887766';

const ORDER: ErasureOrder = {
  id: 'ers_1',
  accountId: 'acct_1',
  environment: 'live',
  kind: 'call',
  askedBy: 'key_1',
  askedAt: NOW,
};

function openRounds(
  store: TestStore,
  options: {
    readonly isQuiet?: () => boolean;
    readonly leftovers?: Leftovers;
    readonly sweep?: { step(): Promise<boolean> };
  } = {},
) {
  const logged: string[] = [];
  const note: Logger['warn'] = (_fields, message) => void logged.push(message);
  const clock = new FakeClock();
  const rounds = new ErasureRounds({
    erasures: store.erasures,
    sweep: options.sweep ?? { step: async () => false },
    leftovers: options.leftovers ?? store.leftovers,
    dataFolder: store.folder,
    isQuiet: options.isQuiet ?? (() => true),
    clock,
    log: { ...silentLogger, warn: note, error: note },
  });
  onTestFinished(() => rounds.stop());
  return { rounds, clock, logged };
}

/** Resolves when a look that has begun is over. */
async function looked(rounds: ErasureRounds): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await rounds.finish();
}

test('ErasureRounds finishes what a process left that died right after the erasure', async () => {
  const store = await openTestStore();
  await addTalk(store, { id: 'call_1', from: CALLER });
  await store.erasures.erase('call_1', ORDER);
  const path = join(store.folder, 'recordings/call_1.wav');
  expect([existsSync(path), foundIn(store.folder, CALLER).length]).toEqual([true, 1]);

  const { rounds, clock } = openRounds(store);
  rounds.start();
  clock.advance(50);

  await vi.waitFor(() => expect(existsSync(path)).toBe(false));
  await vi.waitFor(async () => expect(await store.leftovers.inPages()).toBeUndefined());
  expect(foundIn(store.folder, CALLER)).toEqual([]);
  expect(await store.leftovers.files(9)).toEqual([]);
});

test('ErasureRounds finishes what a process left that died after it deleted the file', async () => {
  const store = await openTestStore();
  await addTalk(store, { id: 'call_1' });
  await store.erasures.erase('call_1', ORDER);
  rmSync(join(store.folder, 'recordings'), { recursive: true });
  const { rounds, logged } = openRounds(store);

  await rounds.finish();

  expect([await store.leftovers.files(9), logged]).toEqual([[], []]);
});

test('ErasureRounds erases noted calls, and those that go on when they are over', async () => {
  const store = await openTestStore();
  for (let index = 0; index < 25; index += 1)
    await addTalk(store, { id: `call_${index}`, from: CALLER });
  const live = buildCall({ id: 'call_live', from: CALLER });
  await store.calls.insert(live, []);
  const { rounds, clock } = openRounds(store);
  rounds.start();

  const selection = { accountId: 'acct_1', environment: null, number: CALLER };
  await store.erasures.note(selection, { ...ORDER, kind: 'number' });
  const isGone = (id: string) => async () => {
    clock.advance(50);
    expect(await store.calls.findById(id)).toBeUndefined();
  };
  await vi.waitFor(isGone('call_24'));
  await vi.waitFor(async () => expect(await store.leftovers.files(9)).toEqual([]));
  await store.calls.update({ ...live, status: 'failed', endedAt: NOW, endReason: 'no_answer' }, []);
  await clock.pass(5000);

  await vi.waitFor(isGone('call_live'));
  expect(await store.erasures.list(1)).toMatchObject([{ calls: 26, recordings: 25 }]);
});

test('ErasureRounds goes on with the sweep at once while it has more to do', async () => {
  const store = await openTestStore();
  let steps = 0;
  const step = async () => {
    steps += 1;
    return steps < 3;
  };
  const { rounds, clock } = openRounds(store, { sweep: { step } });
  rounds.start();

  for (let look = 0; look < 5; look += 1) {
    clock.advance(50);
    await looked(rounds);
  }

  expect(steps).toBe(3);
});

test('ErasureRounds.finish resolves when the recording is deleted and the log is empty', async () => {
  const store = await openTestStore();
  await addTalk(store, { id: 'call_1', from: CALLER });
  const { rounds } = openRounds(store);
  await store.erasures.erase('call_1', ORDER);

  await rounds.finish();

  expect(existsSync(join(store.folder, 'recordings/call_1.wav'))).toBe(false);
  expect(foundIn(store.folder, CALLER)).toEqual([]);
});

test('ErasureRounds rewrites the file when no call is in progress, once a minute at most', async () => {
  const store = await openTestStore();
  let isQuiet = false;
  const { rounds, clock } = openRounds(store, { isQuiet: () => isQuiet });
  const look = async (ms: number) => {
    clock.advance(ms);
    await looked(rounds);
    return (await store.leftovers.inPages()) !== undefined;
  };
  await addTalk(store, { id: 'call_0' });
  await store.erasures.erase('call_0', { ...ORDER, id: 'ers_0' });
  rounds.start();

  const whileTalking = await look(50);
  isQuiet = true;
  const quiet = await look(5000);
  await addTalk(store, { id: 'call_1' });
  await store.erasures.erase('call_1', ORDER);
  const soonAfter = await look(5000);
  clock.advance(60_000);
  const later = await look(5000);

  expect([whileTalking, quiet, soonAfter, later]).toEqual([true, false, true, false]);
});

test('ErasureRounds rewrites the file once a day at most for retention alone', async () => {
  const store = await openTestStore();
  await store.leftovers.compact();
  const account = await store.accounts.find('acct_1');
  const daily = { ...KEEP_CALLS, callsDays: 1 };
  const expire = async () => {
    const startedAt = new Date(STORE_NOW_MS - 2 * 86_400_000);
    await addTalk(store, { id: `call_${Math.random()}`, startedAt });
    const order = { ...ORDER, kind: 'retention', id: `ers_${Math.random()}` } as const;
    if (account !== undefined)
      await store.accountRetention.apply({ ...account, retention: daily }, order);
  };
  const { rounds, clock } = openRounds(store);
  rounds.start();
  const look = async (ms: number) => {
    clock.advance(ms);
    await looked(rounds);
    return store.leftovers.inPages();
  };

  await expire();
  const first = await look(5000);
  await expire();
  const sameDay = await look(3_600_000);
  const nextDay = await look(86_400_000);

  expect([first, sameDay, nextDay]).toEqual([undefined, 'expired', undefined]);
});

test('ErasureRounds leaves a large file alone, and says what to do, once', async () => {
  const store = await openTestStore();
  const leftovers: Leftovers = {
    files: async () => [],
    fileGone: async () => undefined,
    inPages: async () => 'asked',
    compact: () => expect.fail('the file was rewritten'),
    emptyLog: async () => true,
    sizeBytes: async () => 200_000_000,
  };
  const { rounds, clock, logged } = openRounds(store, { leftovers });
  rounds.start();

  for (let look = 0; look < 3; look += 1) {
    clock.advance(5000);
    await looked(rounds);
  }

  expect(logged).toEqual([expect.stringContaining('admin -- compact')]);
});

test('ErasureRounds goes on after a recording that cannot be deleted, and tries it again', async () => {
  const store = await openTestStore();
  await addTalk(store, { id: 'call_1' });
  const recordingFile = 'recordings/call_3.wav';
  mkdirSync(join(store.folder, recordingFile));
  const over = { status: 'completed', endedAt: NOW, recordingFile } as const;
  await store.calls.insert(buildCall({ id: 'call_3', ...over }), []);
  for (const id of ['call_3', 'call_1'])
    await store.erasures.erase(id, { ...ORDER, id: `ers_${id}` });
  const { rounds, logged } = openRounds(store);

  await rounds.finish();

  expect(existsSync(join(store.folder, 'recordings/call_1.wav'))).toBe(false);
  expect(await store.leftovers.files(9)).toEqual(['recordings/call_3.wav']);
  expect(logged).toEqual(['erasure: recording not deleted, will try again']);
});

test.each([
  'offhook.db',
  'recordings/../offhook.db',
  '/etc/hostname',
])('ErasureRounds deletes no "%s", whatever a call names as its recording', async (recordingFile) => {
  const store = await openTestStore();
  const over = { status: 'completed', endedAt: NOW, recordingFile } as const;
  await store.calls.insert(buildCall({ id: 'call_1', ...over }), []);
  await store.erasures.erase('call_1', ORDER);
  const { rounds, logged } = openRounds(store);

  await rounds.finish();

  expect(existsSync(store.file)).toBe(true);
  expect(await store.leftovers.files(9)).toEqual([]);
  expect(logged).toEqual([expect.stringContaining('left alone')]);
});
