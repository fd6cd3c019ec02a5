import { expect, test } from 'vitest';
import type { DueDelivery } from '../../src/domain/outbox.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/test-store.ts';
import { buildEndpoint, buildEvent, happen } from '../support/webhook-world.ts';

/** Makes a delivery of its own event to an endpoint, `afterMs` after the store's beginning. */
function deliver(store: TestStore, endpointId: string, id: string, afterMs = 0): void {
  const event = buildEvent({ id: `evt_${id}` });
  store.events.insertQuiet(event);
  store.deliveries.sendTo(endpointId, event, `dlv_${id}`, new Date(STORE_NOW_MS + afterMs));
}

function due(
  store: TestStore,
  options: Partial<Parameters<TestStore['outbox']['due']>[0]> = {},
): readonly DueDelivery[] {
  return store.outbox.due({
    now: new Date(STORE_NOW_MS + 1000),
    limit: 100,
    perEndpoint: 4,
    exceptEndpoints: [],
    except: new Set(),
    ...options,
  });
}

const idsOf = (deliveries: readonly DueDelivery[]) => deliveries.map(({ id }) => id);

test('Outbox.due gives the earliest first, and nothing before its time', async () => {
  const store = await openTestStore();
  for (const id of ['we_1', 'we_2']) store.webhookEndpoints.insert(buildEndpoint({ id }));
  deliver(store, 'we_1', 'c', 3);
  deliver(store, 'we_2', 'a', 1);
  deliver(store, 'we_1', 'b', 2);
  deliver(store, 'we_2', 'late', 1001);

  const found = due(store);

  expect(idsOf(found)).toEqual(['dlv_a', 'dlv_b', 'dlv_c']);
  expect(found[0]).toMatchObject({
    endpointId: 'we_2',
    eventId: 'evt_a',
    url: 'https://receiver.example/hook',
    attempt: 1,
    body: buildEvent({ id: 'evt_a' }).body,
    previousSecret: null,
  });
  expect(idsOf(due(store, { limit: 2 }))).toEqual(['dlv_a', 'dlv_b']);
});

test('Outbox.due gives no endpoint more than its share, those on their way included', async () => {
  const store = await openTestStore();
  for (const id of ['we_1', 'we_2']) store.webhookEndpoints.insert(buildEndpoint({ id }));
  for (let index = 0; index < 9; index += 1) deliver(store, 'we_1', `one_${index}`, index);
  deliver(store, 'we_2', 'two', 500);

  const first = due(store, { perEndpoint: 3 });
  const onWay = new Set(['dlv_one_0', 'dlv_one_1']);
  const second = due(store, { perEndpoint: 3, except: onWay });
  const third = due(store, { perEndpoint: 3, exceptEndpoints: ['we_1'] });

  expect(idsOf(first)).toEqual(['dlv_one_0', 'dlv_one_1', 'dlv_one_2', 'dlv_two']);
  expect(idsOf(second)).toEqual(['dlv_one_2', 'dlv_two']);
  expect(idsOf(third)).toEqual(['dlv_two']);
});

test('Outbox.due gives both secrets for a day after a rotation', async () => {
  const store = await openTestStore();
  store.webhookEndpoints.insert(buildEndpoint());
  deliver(store, 'we_1', 'a');
  const rotatedAt = new Date(STORE_NOW_MS);
  const before = store.accounts.signingSecrets('acct_1', 'live', rotatedAt)?.current;
  store.accounts.rotateSigningSecret('acct_1', 'live', 'whsec_new', rotatedAt);

  const [first] = due(store, { now: new Date(STORE_NOW_MS + 86_399_999) });
  const [second] = due(store, { now: new Date(STORE_NOW_MS + 86_400_000) });

  expect(first).toMatchObject({ secret: 'whsec_new', previousSecret: before });
  expect(second).toMatchObject({ secret: 'whsec_new', previousSecret: null });
});

test('Outbox.nextDueAt is when the earliest of all falls due, and null when none waits', async () => {
  const store = await openTestStore();
  for (const id of ['we_1', 'we_2']) store.webhookEndpoints.insert(buildEndpoint({ id }));
  const nothing = store.outbox.nextDueAt();
  deliver(store, 'we_1', 'a', 5000);
  deliver(store, 'we_2', 'b', 3000);

  const next = store.outbox.nextDueAt();

  expect(nothing).toBeNull();
  expect(next).toEqual(new Date(STORE_NOW_MS + 3000));
});

test('Outbox.counts tells how many wait and since when', async () => {
  const store = await openTestStore();
  store.webhookEndpoints.insert(buildEndpoint());
  happen(store, buildEvent({ id: 'evt_1' }), buildEvent({ id: 'evt_2' }));
  const empty = store.outbox.counts();
  store.outbox.fanOut({ limit: 100, now: new Date(STORE_NOW_MS + 7) });

  const counts = store.outbox.counts();

  expect(empty).toEqual({ pending: 0, oldestAt: null });
  expect(counts).toEqual({ pending: 2, oldestAt: new Date(STORE_NOW_MS + 7) });
});
