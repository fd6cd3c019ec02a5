import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { ATTEMPTS_KEPT, PRUNED_ROWS_MAX } from '../../src/domain/account/account.ts';
import { IDEMPOTENCY_KEPT_MS } from '../../src/domain/account/rate-limit.ts';
import { EVENTS_KEPT_MS } from '../../src/domain/webhook/service-event.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { addDelivery, record } from '../support/webhook/webhook-deliveries.ts';
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

    const { deliveries } = await store.deliveries.list(SCOPE, { limit: 9, offset: 0 });
    const { events } = await store.events.page(SCOPE, { afterPosition: 0, limit: 9 });
    expect(pruned).toBe(3);
    expect(deliveries.map(({ id }) => id).sort()).toEqual(['dlv_1', 'dlv_2']);
    expect(events.map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
    expect(count(store, 'webhook_attempts')).toBe(2);
    expect(await store.retention.prune(NOW)).toBe(0);
  });

  test('deletes a thousand rows a call at most, and all in the end', async () => {
    const ages = Array.from({ length: 900 }, () => EVENTS_KEPT_MS + 1);
    const store = await openWithEvents([...ages, 0]);

    const counts = await pruneAll(store);

    expect(counts).toEqual([PRUNED_ROWS_MAX, PRUNED_ROWS_MAX, 700]);
    const tables = ['events', 'webhook_deliveries', 'webhook_attempts'];
    expect(tables.map((table) => count(store, table))).toEqual([1, 1, 1]);
  });

  test('never leaves an attempt or a delivery whose event is gone', async () => {
    const ages = Array.from({ length: 400 }, (_, index) => EVENTS_KEPT_MS + 500 - index);
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

  test('deletes the attempts of a delivery beyond its newest 50, and no others', async () => {
    const store = await openWithEvents([0, 0, 0]);
    for (const [id, attempts] of Object.entries({ dlv_a: ATTEMPTS_KEPT, dlv_b: 73, dlv_c: 51 })) {
      await addDelivery(
        store,
        { endpointId: 'we_1', eventId: 'evt_0', deliveryId: id },
        { status: 'pending' },
      );
      for (let attempt = 1; attempt <= attempts; attempt++) {
        await record(store, id, { attempt, status: 'pending' });
      }
    }
    const newest = await store.deliveries.attempts('dlv_b');

    const pruned = await store.retention.prune(NOW);

    expect(pruned).toBe(23 + 1);
    expect(await store.deliveries.attempts('dlv_b')).toEqual(newest);
    expect(count(store, 'webhook_attempts')).toBe(3 + 3 * ATTEMPTS_KEPT);
  });

  test('finds surplus attempts also behind more than it looks at in one call', async () => {
    const store = await openWithEvents([0, 0, 0]);
    const sqlite = new Sqlite(store.file);
    const add = sqlite.prepare(`with recursive n(value) as
        (select 1 union all select value + 1 from n where value < ?)
      insert into webhook_attempts (delivery_id, attempt, at, duration_ms)
      select ?, value, 0, 0 from n`);
    for (const [id, attempts] of Object.entries({ dlv_0: 20_000, dlv_1: 9, dlv_2: 70 })) {
      add.run(attempts, id);
    }
    sqlite.close();

    const counts = [
      ...(await pruneAll(store)),
      ...(await pruneAll(store)),
      ...(await pruneAll(store)),
    ];

    const total = counts.reduce((sum, pruned) => sum + pruned, 0);
    expect(total).toBe(20_001 - ATTEMPTS_KEPT + 71 - ATTEMPTS_KEPT);
    expect(Math.max(...counts)).toBe(PRUNED_ROWS_MAX);
  });

  test('counts a delivery anew whose attempts it has seen in part', async () => {
    const store = await openWithEvents([0]);
    const sqlite = new Sqlite(store.file);
    // 199 deliveries with 50 attempts each come before it, and one look is at 10,000 attempts.
    sqlite.exec(`with recursive n(value) as
        (select 101 union all select value + 1 from n where value < 300)
      insert into webhook_deliveries
      select 'dlv_a' || value, account_id, environment, endpoint_id, event_id, event_kind, event_at,
        status, attempts, next_attempt_at, last_status_code, last_error, created_at, finished_at
      from webhook_deliveries cross join n`);
    sqlite.exec(`with recursive n(value) as
        (select 1 union all select value + 1 from n where value < 90)
      insert into webhook_attempts (delivery_id, attempt, at, duration_ms)
      select id, value, 0, 0 from webhook_deliveries cross join n
      where id > 'dlv_a' and (value <= 50 or id = 'dlv_a300')`);
    sqlite.exec("delete from webhook_attempts where delivery_id = 'dlv_0'");
    sqlite.close();

    const counts = [await store.retention.prune(NOW), await store.retention.prune(NOW)];

    expect(counts).toEqual([0, 90 - ATTEMPTS_KEPT]);
  });
});
