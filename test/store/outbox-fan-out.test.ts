import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { addAccount, openTestStore, STORE_NOW_MS } from '../support/store/test-store.ts';
import { buildEndpoint, buildEvent, happen, SCOPE } from '../support/webhook/webhook-world.ts';

const NOW = new Date(STORE_NOW_MS);

/** Endpoint and event of every delivery of an account and environment. */
async function pairsOf(
  store: Store,
  scope: Parameters<Store['deliveries']['list']>[0] = SCOPE,
): Promise<string[]> {
  const { items: deliveries } = await store.deliveries.list(scope, { limit: 100, offset: 0 });
  return deliveries.map(({ endpointId, eventId }) => `${endpointId} ${eventId}`).sort();
}

test('Outbox.fanOut makes one delivery for each active endpoint of the account and environment that listens to the kind', async () => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  const endpoints = [
    buildEndpoint({ id: 'we_both' }),
    buildEndpoint({ id: 'we_ended', events: ['call.ended'] }),
    buildEndpoint({ id: 'we_disabled', status: 'disabled' }),
    buildEndpoint({ id: 'we_test', environment: 'test' }),
    buildEndpoint({ id: 'we_other', accountId: 'acct_2' }),
  ];
  for (const endpoint of endpoints) await store.webhookEndpoints.insert(endpoint);
  await happen(
    store,
    buildEvent({ id: 'evt_1' }),
    buildEvent({ id: 'evt_2', kind: 'call.ended' }),
    buildEvent({ id: 'evt_3', kind: 'call.bridged' }),
    buildEvent({ id: 'evt_4', environment: 'test' }),
  );

  const looked = await store.outbox.fanOut({ limit: 100, now: NOW });

  expect(looked).toBe(4);
  expect(await pairsOf(store)).toEqual(['we_both evt_1', 'we_both evt_2', 'we_ended evt_2']);
  expect(await pairsOf(store, { ...SCOPE, environment: 'test' })).toEqual(['we_test evt_4']);
  expect(await pairsOf(store, { ...SCOPE, accountId: 'acct_2' })).toEqual([]);
});

test('Outbox.fanOut goes on where it was, in batches, and looks at no event twice', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  for (let index = 1; index <= 5; index += 1)
    await happen(store, buildEvent({ id: `evt_${index}` }));

  const looked: unknown[] = [];
  while (looked.length < 4) looked.push(await store.outbox.fanOut({ limit: 2, now: NOW }));

  expect(looked).toEqual([2, 2, 1, 0]);
  expect(await pairsOf(store)).toEqual([1, 2, 3, 4, 5].map((index) => `we_1 evt_${index}`));
});

test('Outbox.fanOut goes on after a crash where the last transaction ended', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  for (const id of ['evt_1', 'evt_2', 'evt_3']) await happen(store, buildEvent({ id }));
  await store.outbox.fanOut({ limit: 2, now: NOW });

  const next = await openStore({ file: store.file, clock: store.clock, log: silentLogger });
  onTestFinished(() => next.close());
  const looked = await next.outbox.fanOut({ limit: 100, now: NOW });

  expect(looked).toBe(1);
  expect(await pairsOf(next)).toEqual(['we_1 evt_1', 'we_1 evt_2', 'we_1 evt_3']);
});

test('Outbox.fanOut needs no lock when there is nothing to do', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  const other = new Sqlite(store.file);
  onTestFinished(() => void other.close());
  other.exec('begin immediate');

  const looked = await store.outbox.fanOut({ limit: 100, now: NOW });

  expect(looked).toBe(0);
});

test('Outbox.fanOut sends an endpoint only events stored after it, even if older ones were not yet fanned out', async () => {
  const store = await openTestStore();
  const hourLater = new Date(STORE_NOW_MS + 3_600_000);
  await happen(store, buildEvent({ id: 'evt_before', createdAt: hourLater }));
  await store.webhookEndpoints.insert(buildEndpoint({ createdAt: NOW }));
  await happen(store, buildEvent({ id: 'evt_after', createdAt: NOW }));

  await store.outbox.fanOut({ limit: 100, now: NOW });

  expect(await pairsOf(store)).toEqual(['we_1 evt_after']);
});

test('Outbox.fanOut leaves test events to the endpoint that they were made for', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint({ id: 'we_1' }));
  await store.webhookEndpoints.insert(buildEndpoint({ id: 'we_2' }));
  const event = buildEvent({ kind: 'webhook.test' });
  await store.events.insertQuiet(event);
  await store.deliveries.sendTo('we_1', event, 'dlv_1', NOW);

  const looked = await store.outbox.fanOut({ limit: 100, now: NOW });

  expect(looked).toBe(1);
  expect(await pairsOf(store)).toEqual(['we_1 evt_1']);
});

test('Outbox.fanOut fails what waits for a disabled endpoint, and says why', async () => {
  const store = await openTestStore();
  const endpoint = buildEndpoint();
  await store.webhookEndpoints.insert(endpoint);
  await happen(store, buildEvent());
  await store.outbox.fanOut({ limit: 100, now: NOW });
  await store.webhookEndpoints.update({ ...endpoint, status: 'disabled' });

  await store.outbox.fanOut({ limit: 100, now: NOW });

  const [delivery] = (await store.deliveries.list(SCOPE, { limit: 1, offset: 0 })).items;
  expect(delivery).toMatchObject({
    status: 'failed',
    nextAttemptAt: null,
    lastError: 'Not sent: the endpoint is disabled',
    finishedAt: NOW,
  });
  expect(await store.outbox.counts()).toEqual({ pending: 0, oldestAt: null });
});

test('Outbox notifies when events are written', async () => {
  const store = await openTestStore();
  let notices = 0;
  store.outbox.notifier.listen(() => {
    notices += 1;
  });

  await happen(store, buildEvent({ id: 'evt_1' }), buildEvent({ id: 'evt_2' }));
  await Promise.resolve();

  expect(notices).toBe(1);
});
