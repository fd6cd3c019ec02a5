import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { PRUNED_ROWS_MAX } from '../../src/domain/account/account.ts';
import { IDEMPOTENCY_KEPT_MS } from '../../src/domain/account/rate-limit.ts';
import { EVENTS_KEPT_MS } from '../../src/domain/webhook/service-event.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { addDelivery } from '../support/webhook/webhook-deliveries.ts';
import { buildEndpoint, buildEvent, SCOPE } from '../support/webhook/webhook-world.ts';

const NOW = new Date(STORE_NOW_MS);

const ago = (ms: number) => new Date(STORE_NOW_MS - ms);

function count(store: TestStore, table: string): unknown {
  const sqlite = new Sqlite(store.file, { readonly: true });
  const rows = sqlite.prepare(`select count(*) from ${table}`).pluck().get();
  sqlite.close();
  return rows;
}

/** An event of each age with a delivery and one attempt. */
async function openWithEvents(agesMs: readonly number[]): Promise<TestStore> {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  for (const [index, ageMs] of agesMs.entries()) {
    await store.events.insertQuiet(buildEvent({ id: `evt_${index}`, createdAt: ago(ageMs) }));
    const ids = { endpointId: 'we_1', eventId: `evt_${index}`, deliveryId: `dlv_${index}` };
    await addDelivery(store, ids, { status: index % 2 === 0 ? 'failed' : 'succeeded' });
  }
  return store;
}

/** Prunes until a call was not full. @returns what each call deleted. */
async function pruneAll(store: TestStore): Promise<readonly number[]> {
  const counts: number[] = [];
  do counts.push(await store.retention.prune(NOW));
  while (counts.at(-1) === PRUNED_ROWS_MAX);
  return counts;
}

describe('Retention.prune', () => {
  test('deletes events older than 30 days, with their deliveries and attempts', async () => {
    const store = await openWithEvents([EVENTS_KEPT_MS + 1, EVENTS_KEPT_MS, 0]);

    const pruned = await store.retention.prune(NOW);

    const { items: deliveries } = await store.deliveries.list(SCOPE, { limit: 9, offset: 0 });
    const { events } = await store.events.page(SCOPE, { afterPosition: 0, limit: 9 });
    expect(pruned).toBe(2);
    expect(deliveries.map(({ id }) => id).sort()).toEqual(['dlv_1', 'dlv_2']);
    expect(events.map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
    expect(count(store, 'webhook_attempts')).toBe(2);
    expect(await store.retention.prune(NOW)).toBe(0);
  });

  test('deletes a thousand rows a call at most, and all in the end', async () => {
    const ages = Array.from({ length: 900 }, () => EVENTS_KEPT_MS + 1);
    const store = await openWithEvents([...ages, 0]);

    const counts = await pruneAll(store);

    expect(counts).toEqual([PRUNED_ROWS_MAX, 800]);
    const tables = ['events', 'webhook_deliveries', 'webhook_attempts'];
    expect(tables.map((table) => count(store, table))).toEqual([1, 1, 1]);
  });

  test('never leaves an attempt or a delivery whose event is gone', async () => {
    const ages = Array.from({ length: 600 }, (_, index) => EVENTS_KEPT_MS + 700 - index);
    const store = await openWithEvents(ages);

    await store.retention.prune(NOW);

    const sqlite = new Sqlite(store.file, { readonly: true });
    const orphans = sqlite
      .prepare('select id from webhook_deliveries where event_id not in (select id from events)')
      .all();
    sqlite.close();
    expect(orphans).toEqual([]);
    expect(count(store, 'webhook_deliveries')).toBe(0);
    expect(count(store, 'events')).toBe(200);
  });

  test('deletes answers older than 24 hours', async () => {
    const store = await openTestStore();
    const request = { ...SCOPE, method: 'POST', path: '/', fingerprint: 'f' };
    const ages = { old: IDEMPOTENCY_KEPT_MS, young: IDEMPOTENCY_KEPT_MS - 1 };
    for (const [key, ageMs] of Object.entries(ages)) {
      const asked = { ...request, key, now: ago(ageMs) };
      await store.idempotency.claim(asked);
      await store.idempotency.keep(asked, { status: 201, body: key });
    }

    const pruned = await store.retention.prune(NOW);

    const again = (key: string) => store.idempotency.claim({ ...request, key, now: NOW });
    expect(pruned).toBe(1);
    expect(count(store, 'idempotency_keys')).toBe(1);
    expect(await again('young')).toEqual({ status: 201, body: 'young' });
    expect(await again('old')).toBeUndefined();
  });
});
