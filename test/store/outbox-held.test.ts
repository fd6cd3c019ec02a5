import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { AttemptResult, DueDelivery } from '../../src/domain/outbox.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/test-store.ts';
import { buildEndpoint, buildEvent, happen, SCOPE } from '../support/webhook-world.ts';

const at = (afterMs: number) => new Date(STORE_NOW_MS + afterMs);

/** A store with an endpoint and so many events, each a delivery that is made and not written. */
async function openHolding(events: number): Promise<TestStore> {
  const store = await openTestStore();
  store.webhookEndpoints.insert(buildEndpoint());
  for (let index = 1; index <= events; index += 1)
    happen(store, buildEvent({ id: `evt_${index}` }));
  store.outbox.fanOut({ limit: events + 1, now: at(0) });
  return store;
}

/** Another store on the same file, as the next process has it when this one was killed. */
async function openAfterKill({ file, clock }: TestStore): Promise<Store> {
  const store = await openStore({ file, clock, log: silentLogger });
  onTestFinished(() => store.close());
  return store;
}

function due(
  { outbox }: Store,
  options: Partial<Parameters<Store['outbox']['due']>[0]> = {},
): readonly DueDelivery[] {
  const all = { now: at(1000), limit: 2000, perEndpoint: 2000, exceptEndpoints: [] };
  return outbox.due({ ...all, except: new Set(), ...options });
}

const eventsOf = (deliveries: readonly { readonly eventId: string }[]) =>
  deliveries.map(({ eventId }) => eventId).sort();

function received({ id, attempt }: DueDelivery): AttemptResult {
  const answer = { statusCode: 200, error: null, responseText: 'thanks' };
  return {
    deliveryId: id,
    attempt: { attempt, at: at(20), durationMs: 12.4, ...answer },
    isSuccess: true,
    nextAttemptAt: null,
  };
}

function failed({ id, attempt }: DueDelivery): AttemptResult {
  const answer = { statusCode: 500, error: 'the receiver answered 500', responseText: null };
  return {
    deliveryId: id,
    attempt: { attempt, at: at(20), durationMs: 12.4, ...answer },
    isSuccess: false,
    nextAttemptAt: at(900),
  };
}

const list = (store: Store) => store.deliveries.list(SCOPE, { limit: 2000, offset: 0 }).deliveries;

/** Past the store, as another process sees it. */
function rows({ file }: TestStore, table = 'webhook_deliveries'): number {
  const sqlite = new Sqlite(file, { readonly: true });
  const count = sqlite.prepare<[], number>(`select count(*) from ${table}`).pluck().get() ?? 0;
  sqlite.close();
  return count;
}

test('Outbox.fanOut writes no row of a delivery that is soon answered, and lists show it as pending', async () => {
  const store = await openHolding(2);
  const rowsBefore = rows(store);

  const [delivery] = list(store);

  expect(rowsBefore).toBe(0);
  expect(delivery).toMatchObject({ status: 'pending', attempts: 0, nextAttemptAt: at(0) });
  expect(store.deliveries.find(SCOPE, delivery?.id ?? '')).toEqual(delivery);
  expect(rows(store)).toBe(2);
});

test('Outbox.fanOut writes what is held for half a second as pending', async () => {
  const store = await openHolding(2);
  store.outbox.fanOut({ limit: 100, now: at(499) });
  const rowsBefore = rows(store);

  store.outbox.fanOut({ limit: 100, now: at(500) });

  expect(rowsBefore).toBe(0);
  expect(rows(store)).toBe(2);
  expect(eventsOf(due(store))).toEqual(['evt_1', 'evt_2']);
});

test('Outbox.fanOut holds no more than 1024 deliveries', async () => {
  const store = await openHolding(1030);

  expect(rows(store)).toBe(6);
  expect(due(store)).toHaveLength(1030);
  expect(store.outbox.counts().pending).toBe(1030);
});

test('Outbox makes again, after a crash, what was held, and nothing that has a result', async () => {
  const store = await openHolding(4);
  const [first, second, third] = due(store);
  if (first === undefined || second === undefined || third === undefined) throw new Error('none');
  store.outbox.record([received(third), failed(second)], at(40));

  const next = await openAfterKill(store);
  next.outbox.fanOut({ limit: 100, now: at(50) });

  expect(eventsOf(due(next, { now: at(899) }))).toEqual(['evt_1', 'evt_4']);
  expect(eventsOf(due(next, { now: at(900) }))).toEqual(['evt_1', 'evt_2', 'evt_4']);
  expect(eventsOf(list(next))).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
  expect(next.deliveries.find(SCOPE, third.id)).toMatchObject({
    status: 'succeeded',
    attempts: 1,
    nextAttemptAt: null,
    lastStatusCode: 200,
    lastError: null,
    createdAt: at(0),
    finishedAt: at(32),
  });
  expect(next.deliveries.attempts(third.id)).toEqual([
    {
      attempt: 1,
      at: at(20),
      durationMs: 12,
      statusCode: 200,
      error: null,
      responseText: 'thanks',
    },
  ]);
});

test('Outbox makes nothing again once all has a result', async () => {
  const store = await openHolding(3);
  store.outbox.record(due(store).map(received), at(40));

  const next = await openAfterKill(store);
  const looked = next.outbox.fanOut({ limit: 100, now: at(50) });

  expect(looked).toBe(0);
  expect(due(next)).toEqual([]);
  expect(list(next)).toHaveLength(3);
});

test('Outbox.record brings what was received into the tables in bulk, and the rest after half a second', async () => {
  const store = await openHolding(1020);
  const [...deliveries] = due(store);
  const rowsAfter = [700, 300, 20].map((count) => {
    store.outbox.record(deliveries.splice(0, count).map(received), at(40));
    return rows(store);
  });

  store.outbox.fanOut({ limit: 100, now: at(540) });

  expect(rowsAfter).toEqual([0, 0, 1000]);
  expect(rows(store)).toBe(1020);
  expect(rows(store, 'webhook_attempts')).toBe(1020);
  expect(rows(store, 'first_answers')).toBe(0);
});

test('Outbox.record drops what was received for an endpoint that was deleted, when it is brought in', async () => {
  const store = await openHolding(2);
  const [first, second] = due(store);
  if (first === undefined || second === undefined) throw new Error('none');
  store.outbox.record([received(first)], at(40));
  store.webhookEndpoints.delete(SCOPE, 'we_1');
  const dueAfter = store.outbox.nextDueAt();

  store.outbox.record([received(second)], at(50));
  store.outbox.fanOut({ limit: 100, now: at(600) });

  const tables = ['webhook_deliveries', 'webhook_attempts', 'first_answers', 'webhook_endpoints'];
  expect(dueAfter).toBeNull();
  expect(tables.map((table) => rows(store, table))).toEqual([0, 0, 0, 0]);
});

test('Outbox.due gives what is held beside what has a row, the earliest first, and no endpoint more than its share', async () => {
  const store = await openHolding(3);
  store.webhookEndpoints.insert(buildEndpoint({ id: 'we_2' }));
  const event = buildEvent({ id: 'evt_row', kind: 'webhook.test' });
  store.events.insertQuiet(event);
  store.deliveries.sendTo('we_1', event, 'dlv_row', at(-1));
  store.deliveries.sendTo('we_2', event, 'dlv_late', at(7));
  const [, held] = due(store);

  const all = due(store).map(({ eventId }) => eventId);
  const shared = due(store, { perEndpoint: 2 }).map(({ eventId }) => eventId);
  const without = due(store, { except: new Set([held?.id ?? '']), exceptEndpoints: ['we_2'] });

  expect(all).toEqual(['evt_row', 'evt_1', 'evt_2', 'evt_3', 'evt_row']);
  expect(shared).toEqual(['evt_row', 'evt_1', 'evt_row']);
  expect(without.map(({ eventId }) => eventId)).toEqual(['evt_row', 'evt_2', 'evt_3']);
  expect(store.outbox.nextDueAt()).toEqual(at(-1));
});

test('DeliveryStore.resendRange takes up what was just received, also inside the transaction of an answer', async () => {
  const store = await openHolding(1);
  store.outbox.record(due(store).map(received), at(40));
  const range = { from: at(-1000), before: at(1000), status: 'succeeded' } as const;
  const request = { ...SCOPE, method: 'POST', path: '/', key: 'k', fingerprint: 'f', now: at(50) };

  const { answer } = store.idempotency.once(request, () => ({
    status: store.deliveries.resendRange(SCOPE, range, at(50)),
    body: null,
  }));

  expect(answer.status).toBe(1);
  expect(due(store)).toMatchObject([{ eventId: 'evt_1', attempt: 1 }]);
});

test('DeliveryStore loses nothing that is held when the transaction around its list is taken back', async () => {
  const store = await openHolding(1);
  const request = { ...SCOPE, method: 'POST', path: '/', key: 'k', fingerprint: 'f', now: at(50) };
  const broken = () =>
    store.idempotency.once(request, () => {
      list(store);
      throw new Error('the answer was never made');
    });

  expect(broken).toThrow('the answer was never made');

  expect(due(store)).toHaveLength(1);
  expect(list(store)).toHaveLength(1);
});

test('DeliveryStore lists what has a row while another process holds the lock', async () => {
  const store = await openHolding(1);
  list(store);
  happen(store, buildEvent({ id: 'evt_2' }));
  store.outbox.fanOut({ limit: 100, now: at(1) });
  const other = new Sqlite(store.file);
  onTestFinished(() => void other.close());
  other.exec('begin immediate');

  const locked = eventsOf(list(store));
  other.exec('rollback');

  expect(locked).toEqual(['evt_1']);
  expect(eventsOf(list(store))).toEqual(['evt_1', 'evt_2']);
});

test('Store.close writes what is held', async () => {
  const store = await openHolding(2);

  store.close();

  expect(rows(store)).toBe(2);
});
