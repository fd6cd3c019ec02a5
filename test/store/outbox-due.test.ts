import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { DueDelivery } from '../../src/domain/webhook/webhook-delivery.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { leastMs } from '../support/time/least-ms.ts';
import { buildEndpoint, buildEvent, happen, SCOPE } from '../support/webhook/webhook-world.ts';

const at = (afterMs: number) => new Date(STORE_NOW_MS + afterMs);

/** Makes a delivery of its own event to an endpoint, `afterMs` after the store's beginning. */
async function deliver(
  store: TestStore,
  endpointId: string,
  id: string,
  afterMs = 0,
): Promise<void> {
  const event = buildEvent({ id: `evt_${id}` });
  await store.events.insertQuiet(event);
  await store.deliveries.sendTo(endpointId, event, `dlv_${id}`, at(afterMs));
}

async function openWith(...endpointIds: readonly string[]): Promise<TestStore> {
  const store = await openTestStore();
  for (const id of endpointIds) await store.webhookEndpoints.insert(buildEndpoint({ id }));
  return store;
}

async function due(
  store: TestStore,
  endpointId: string,
  options: Partial<Parameters<TestStore['outbox']['due']>[1]> = {},
): Promise<readonly DueDelivery[]> {
  return store.outbox.due(endpointId, { now: at(1000), limit: 100, except: [], ...options });
}

const idsOf = (deliveries: readonly DueDelivery[]) => deliveries.map(({ id }) => id);

test('Outbox.due gives an endpoint its earliest first, and nothing before its time', async () => {
  const store = await openWith('we_1', 'we_2');
  await deliver(store, 'we_1', 'c', 3);
  await deliver(store, 'we_2', 'other', 1);
  await deliver(store, 'we_1', 'a', 2);
  await deliver(store, 'we_1', 'last', 1000);
  await deliver(store, 'we_1', 'late', 1001);

  const found = await due(store, 'we_1');

  expect(idsOf(found)).toEqual(['dlv_a', 'dlv_c', 'dlv_last']);
  expect(found[0]).toEqual({
    id: 'dlv_a',
    endpointId: 'we_1',
    eventId: 'evt_a',
    url: 'https://receiver.example/hook',
    attempt: 1,
    body: buildEvent({ id: 'evt_a' }).body,
    secret: (await store.accounts.signingSecrets('acct_1', 'live', at(0)))?.current,
    otherSecrets: [],
  });
  expect(idsOf(await due(store, 'we_1', { limit: 2 }))).toEqual(['dlv_a', 'dlv_c']);
});

test('Outbox.due leaves out what is in flight, and fills its place', async () => {
  const store = await openWith('we_1');
  for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) await deliver(store, 'we_1', id, index);

  const found = await due(store, 'we_1', { except: ['dlv_a', 'dlv_c'], limit: 2 });

  expect(idsOf(found)).toEqual(['dlv_b', 'dlv_d']);
});

test('Outbox.due gives a disabled endpoint nothing', async () => {
  const store = await openWith('we_1');
  await deliver(store, 'we_1', 'a');

  await store.webhookEndpoints.update(buildEndpoint({ status: 'disabled' }));

  expect(await due(store, 'we_1')).toEqual([]);
});

test('Outbox.due gives the prepared secret as well, and the previous one for a day after its end', async () => {
  const store = await openWith('we_1');
  await deliver(store, 'we_1', 'a');
  const { accounts } = store;
  const old = (await accounts.signingSecrets('acct_1', 'live', at(0)))?.current;
  const secrets = async (now: Date) =>
    (await due(store, 'we_1', { now })).map(({ secret, otherSecrets }) => [
      secret,
      ...otherSecrets,
    ])[0];

  await accounts.prepareSigningSecret(SCOPE, 'whsec_new', at(0));
  const prepared = await secrets(at(1));
  await accounts.activateSigningSecret(SCOPE, at(2));
  await accounts.prepareSigningSecret(SCOPE, 'whsec_next', at(3));
  const allThree = await secrets(at(86_400_001));
  const afterADay = await secrets(at(86_400_002));
  await accounts.dropSigningSecret(SCOPE, 'prepared', at(5));

  expect(prepared).toEqual([old, 'whsec_new']);
  expect(allThree).toEqual(['whsec_new', 'whsec_next', old]);
  expect(afterADay).toEqual(['whsec_new', 'whsec_next']);
  expect(await secrets(at(86_400_002))).toEqual(['whsec_new']);
});

test('Outbox.waiting gives every endpoint with pending deliveries, earliest due first', async () => {
  const store = await openWith('we_1', 'we_2', 'we_3', 'we_idle');
  const nothing = await store.outbox.waiting();
  await deliver(store, 'we_1', 'a', 5000);
  await deliver(store, 'we_2', 'b', 9000);
  await deliver(store, 'we_2', 'c', 3000);
  await deliver(store, 'we_3', 'd', 4000);

  const waiting = await store.outbox.waiting();

  expect(nothing).toEqual([]);
  expect(waiting).toEqual([
    { endpointId: 'we_2', dueAt: at(3000) },
    { endpointId: 'we_3', dueAt: at(4000) },
    { endpointId: 'we_1', dueAt: at(5000) },
  ]);
});

test('Outbox finds what is due without reading the backlog of an endpoint', async () => {
  const store = await openWith('we_1', 'we_2');
  await deliver(store, 'we_1', 'a');
  await deliver(store, 'we_2', 'b');
  const sqlite = new Sqlite(store.file);
  sqlite.exec(`with recursive n(value) as (select 1 union all select value + 1 from n where value < 100000)
    insert into webhook_deliveries
    select id || value, account_id, environment, endpoint_id, event_id, event_kind, event_at, status,
      attempts, next_attempt_at + value, last_status_code, last_error, created_at, finished_at
    from webhook_deliveries cross join n where endpoint_id = 'we_1'`);
  const scan = sqlite.prepare('select count(*) from webhook_deliveries where created_at > 0');

  const dueMs = await leastMs(async () => [
    await due(store, 'we_1', { limit: 16 }),
    await due(store, 'we_2'),
  ]);
  const waitingMs = await leastMs(() => store.outbox.waiting());
  const scanMs = await leastMs(() => scan.get());
  sqlite.close();

  expect(dueMs + waitingMs).toBeLessThan(scanMs / 4);
});

test('Outbox.counts tells how many wait and since when', async () => {
  const store = await openWith('we_1');
  await happen(store, buildEvent({ id: 'evt_1' }), buildEvent({ id: 'evt_2' }));
  const empty = await store.outbox.counts();
  await store.outbox.fanOut({ limit: 100, now: at(7) });

  const counts = await store.outbox.counts();

  expect(empty).toEqual({ pending: 0, oldestAt: null });
  expect(counts).toEqual({ pending: 2, oldestAt: at(7) });
});
