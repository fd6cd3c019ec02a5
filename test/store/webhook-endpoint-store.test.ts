import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import { WEBHOOK_ENDPOINTS_MAX } from '../../src/domain/webhook/webhook-endpoint.ts';
import {
  addAccount,
  openTestStore,
  STORE_NOW_MS,
  type TestStore,
} from '../support/store/test-store.ts';
import { addDelivery } from '../support/webhook/webhook-deliveries.ts';
import { buildEndpoint, buildEvent, SCOPE } from '../support/webhook/webhook-world.ts';

const SANDBOX: Scope = { accountId: 'acct_1', environment: 'test' };

const NOW = new Date(STORE_NOW_MS);

const PAGE = { limit: 9, offset: 0 };

/** Counts notifications from now on. */
function countNotices(store: TestStore): () => Promise<number> {
  let notices = 0;
  store.outbox.notifier.listen(() => {
    notices += 1;
  });
  return async () => {
    await Promise.resolve();
    return notices;
  };
}

function failuresOf(store: TestStore): unknown {
  const sqlite = new Sqlite(store.file, { readonly: true });
  try {
    return sqlite.prepare('select failures_in_row, failing_since from webhook_endpoints').get();
  } finally {
    sqlite.close();
  }
}

describe('WebhookEndpointStore', () => {
  test('gives back every field as it was saved', async () => {
    const { webhookEndpoints } = await openTestStore();
    const endpoint = buildEndpoint({
      description: 'Ünïcode ☎ and "quotes"',
      events: ['call.bridged', 'appointment.booked'],
      status: 'disabled',
      disabledReason: 'it failed',
    });

    await webhookEndpoints.insert(endpoint);

    expect(await webhookEndpoints.find(SCOPE, endpoint.id)).toEqual(endpoint);
  });

  test('finds nothing of another account or environment', async () => {
    const store = await openTestStore();
    await addAccount(store, 'acct_2');
    await store.webhookEndpoints.insert(buildEndpoint());

    expect(await store.webhookEndpoints.find(SANDBOX, 'we_1')).toBeUndefined();
    expect(
      await store.webhookEndpoints.find({ ...SCOPE, accountId: 'acct_2' }, 'we_1'),
    ).toBeUndefined();
    expect(await store.webhookEndpoints.list(SANDBOX, PAGE)).toEqual({ items: [], total: 0 });
  });

  test('updates and deletes nothing of another environment', async () => {
    const { webhookEndpoints } = await openTestStore();
    await webhookEndpoints.insert(buildEndpoint());

    await webhookEndpoints.update(buildEndpoint({ environment: 'test', description: 'stolen' }));
    await webhookEndpoints.delete(SANDBOX, 'we_1', NOW);

    expect(await webhookEndpoints.find(SCOPE, 'we_1')).toEqual(buildEndpoint());
  });

  test('lists newest first, ties by id, in pages that leave nothing out', async () => {
    const { webhookEndpoints } = await openTestStore();
    const times = { we_a: 1, we_b: 2, we_c: 2, we_d: 3, we_e: 1 };
    for (const [id, time] of Object.entries(times)) {
      await webhookEndpoints.insert(buildEndpoint({ id, createdAt: new Date(time) }));
    }

    const pages = await Promise.all(
      [0, 2, 4].map((offset) => webhookEndpoints.list(SCOPE, { limit: 2, offset })),
    );

    const ids = pages.flatMap(({ items: endpoints }) => endpoints.map(({ id }) => id));
    expect(ids).toEqual(['we_d', 'we_c', 'we_b', 'we_e', 'we_a']);
    expect(pages.map(({ total }) => total)).toEqual([5, 5, 5]);
  });

  test('takes a hundred an environment, and one more when one is gone', async () => {
    const { webhookEndpoints } = await openTestStore();
    for (let index = 0; index < WEBHOOK_ENDPOINTS_MAX; index++) {
      await webhookEndpoints.insert(buildEndpoint({ id: `we_${index}` }));
    }
    const insert = () => webhookEndpoints.insert(buildEndpoint({ id: 'we_more' }));

    await expect(insert()).rejects.toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    await webhookEndpoints.insert(buildEndpoint({ id: 'we_test', environment: 'test' }));
    await webhookEndpoints.delete(SCOPE, 'we_0', NOW);
    await insert();
  });

  test('forgets failures when an endpoint becomes active, and only then', async () => {
    const store = await openTestStore();
    await store.webhookEndpoints.insert(buildEndpoint());
    const sqlite = new Sqlite(store.file);
    sqlite.exec('update webhook_endpoints set failures_in_row = 7, failing_since = 5');
    sqlite.close();

    await store.webhookEndpoints.update(buildEndpoint({ description: 'still active' }));
    await store.webhookEndpoints.update(buildEndpoint({ status: 'disabled' }));
    const failuresBefore = failuresOf(store);
    await store.webhookEndpoints.update(buildEndpoint({ status: 'active' }));

    expect(failuresBefore).toEqual({ failures_in_row: 7, failing_since: 5 });
    expect(failuresOf(store)).toEqual({ failures_in_row: 0, failing_since: null });
  });

  test('notifies after a change and after a deletion', async () => {
    const store = await openTestStore();
    await store.webhookEndpoints.insert(buildEndpoint());
    const notices = countNotices(store);

    await store.webhookEndpoints.update(buildEndpoint({ status: 'disabled' }));
    const noticesAfterUpdate = await notices();
    await store.webhookEndpoints.delete(SCOPE, 'we_1', NOW);

    expect([noticesAfterUpdate, await notices()]).toEqual([1, 2]);
  });
});

describe('WebhookEndpointStore.delete', () => {
  async function withDeliveries(count: number): Promise<TestStore> {
    const store = await openTestStore();
    await store.webhookEndpoints.insert(buildEndpoint());
    await store.webhookEndpoints.insert(buildEndpoint({ id: 'we_2' }));
    await store.events.insertQuiet(buildEvent());
    for (let index = 0; index < count; index++) {
      const deliveryId = `dlv_${index}`;
      const ids = { endpointId: 'we_1', eventId: 'evt_1', deliveryId };
      await addDelivery(store, ids, { status: index % 2 === 0 ? 'pending' : 'failed' });
    }
    const ids = { endpointId: 'we_2', eventId: 'evt_1', deliveryId: 'dlv_kept' };
    await addDelivery(store, ids, { status: 'pending' });
    return store;
  }

  function rowsOf(store: TestStore): readonly unknown[] {
    const sqlite = new Sqlite(store.file, { readonly: true });
    const count = (table: string) => sqlite.prepare(`select count(*) from ${table}`).pluck().get();
    const rows = ['webhook_endpoints', 'webhook_deliveries', 'webhook_attempts'].map(count);
    sqlite.close();
    return rows;
  }

  test('hides an endpoint and its deliveries at once, and ends what is pending', async () => {
    const store = await withDeliveries(4);
    const { deliveries, outbox } = store;

    await store.webhookEndpoints.delete(SCOPE, 'we_1', NOW);
    await outbox.fanOut({ limit: 9, now: NOW });

    expect(await store.webhookEndpoints.find(SCOPE, 'we_1')).toBeUndefined();
    expect((await store.webhookEndpoints.list(SCOPE, PAGE)).total).toBe(1);
    expect(await deliveries.list(SCOPE, PAGE)).toMatchObject({
      items: [{ id: 'dlv_kept' }],
      total: 1,
    });
    expect(await deliveries.find(SCOPE, 'dlv_0')).toBeUndefined();
    expect((await outbox.waiting()).map(({ endpointId }) => endpointId)).toEqual(['we_2']);
  });

  test('is final: the endpoint cannot be updated', async () => {
    const store = await withDeliveries(0);

    await store.webhookEndpoints.delete(SCOPE, 'we_1', NOW);
    await store.webhookEndpoints.update(buildEndpoint({ status: 'active' }));

    expect(await store.webhookEndpoints.find(SCOPE, 'we_1')).toBeUndefined();
    expect(await store.outbox.due('we_1', { now: NOW, limit: 9, except: [] })).toEqual([]);
  });

  test('leaves the rows to retention, which deletes a thousand deliveries a call', async () => {
    const store = await withDeliveries(1200);
    await store.webhookEndpoints.delete(SCOPE, 'we_1', NOW);

    const pruned = [await store.retention.prune(NOW), await store.retention.prune(NOW)];

    expect(pruned).toEqual([1000, 201]);
    expect(rowsOf(store)).toEqual([1, 1, 0]);
  });
});
