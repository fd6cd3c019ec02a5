/** A real store in a folder of its own, with one account, that goes away with the test. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Account, KEEP_CALLS } from '../../../src/domain/account/account.ts';
import { newSigningSecret } from '../../../src/domain/account/api-key.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { FakeClock } from '../time/fake-clock.ts';

export const STORE_NOW_MS = Date.UTC(2026, 10, 20, 12);

/** Timers of an open store itself: its statistics, and the index of calls. */
export const STORE_TIMERS = 2;

export interface TestStore extends Store {
  readonly file: string;
  readonly folder: string;
  readonly clock: FakeClock;
}

/** Makes a folder that is removed when the test is over. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A database without rows, made once: to bring each test's own to the schema takes longer than most tests. */
let empty: Promise<Buffer> | undefined;

async function makeEmpty(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-empty-'));
  const file = join(folder, 'offhook.db');
  const clock = new FakeClock(STORE_NOW_MS);
  try {
    await (await openStore({ file, clock, log: silentLogger })).close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function openTestStore(): Promise<TestStore> {
  const folder = testFolder();
  const file = join(folder, 'offhook.db');
  const clock = new FakeClock(STORE_NOW_MS);
  empty ??= makeEmpty();
  writeFileSync(file, await empty, { mode: 0o600 });
  const store = await openStore({ file, clock, log: silentLogger });
  onTestFinished(() => store.close());
  await addAccount(store, 'acct_1');
  return Object.assign(store, { file, folder, clock });
}

/** Adds an account without keys. */
export async function addAccount(
  store: Store,
  id: string,
  fields: Partial<Account> = {},
): Promise<void> {
  await store.accounts.found({
    account: {
      id,
      name: id,
      plan: 'business',
      minutesIncluded: 1000,
      transferTargets: [],
      allowedCountries: null,
      callingHours: null,
      retention: KEEP_CALLS,
      createdAt: new Date(STORE_NOW_MS),
      ...fields,
    },
    signingSecrets: { live: newSigningSecret(randomBytes), test: newSigningSecret(randomBytes) },
    apiKeys: [],
  });
}
