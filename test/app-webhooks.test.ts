/** When webhooks begin to be sent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Webhooks } from '../src/app-webhooks.ts';
import { readConfig } from '../src/config.ts';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { Metrics } from '../src/lib/metrics.ts';
import { openStore, type Store } from '../src/store/store.ts';

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhooks-test-'));
  const file = join(folder, 'offhook.db');
  store = await openStore({ file, clock: systemClock, log: silentLogger });
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The gauges that only a started deliverer has. */
const WATCHED = /_outbox_pending 0/;

test('Webhooks look into the outbox once they are started', async () => {
  const metrics = new Metrics({ version: 'test' });
  const webhooks = new Webhooks({
    ...{ config: readConfig({}), store, metrics, version: 'test', log: silentLogger },
  });

  await webhooks.start();

  expect(await metrics.render()).toMatch(WATCHED);
  await webhooks.stop();
});

test('Webhooks stopped while they are loaded never look into the outbox', async () => {
  const metrics = new Metrics({ version: 'test' });
  const webhooks = new Webhooks({
    ...{ config: readConfig({}), store, metrics, version: 'test', log: silentLogger },
  });

  const started = webhooks.start();
  await webhooks.stop();
  await started;

  expect(await metrics.render()).not.toMatch(WATCHED);
});
