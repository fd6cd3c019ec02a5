import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import type { DeliveryQuery, WebhookDelivery } from '../../src/domain/webhook/webhook-delivery.ts';
import {
  addAccount,
  openTestStore,
  STORE_NOW_MS,
  type TestStore,
} from '../support/store/test-store.ts';
import { leastMs } from '../support/time/least-ms.ts';
import { addDelivery } from '../support/webhook/webhook-deliveries.ts';
import { buildEndpoint, buildEvent, SCOPE } from '../support/webhook/webhook-world.ts';

/** Of which scope each endpoint is. */
const ENDPOINTS: Readonly<Record<string, Scope>> = {
  we_1: SCOPE,
  we_2: SCOPE,
  we_test: { ...SCOPE, environment: 'test' },
  we_foreign: { ...SCOPE, accountId: 'acct_2' },
  we_deleted: SCOPE,
};

const EVENTS = ['evt_1', 'evt_2', 'evt_3'];

const deliveryArbitrary = fc.record({
  endpointId: fc.constantFrom(...Object.keys(ENDPOINTS)),
  eventId: fc.constantFrom(...EVENTS),
  status: fc.constantFrom('pending', 'succeeded', 'failed'),
  at: fc.integer({ min: 0, max: 8 }).map((minute) => new Date(STORE_NOW_MS + minute * 60_000)),
});

const queryArbitrary = fc.record(
  {
    status: fc.constantFrom('pending', 'succeeded', 'failed'),
    endpointId: fc.constantFrom('we_1', 'we_2', 'we_test', 'we_foreign', 'we_deleted', 'we_none'),
    eventId: fc.constantFrom(...EVENTS, 'evt_none'),
    limit: fc.integer({ min: 1, max: 10 }),
    offset: fc.integer({ min: 0, max: 12 }),
  },
  { requiredKeys: ['limit', 'offset'] },
) satisfies fc.Arbitrary<DeliveryQuery>;

const scopeArbitrary = fc.constantFrom(...new Set(Object.values(ENDPOINTS)));

async function deleteOne(store: TestStore): Promise<void> {
  await store.webhookEndpoints.delete(SCOPE, 'we_deleted', new Date(STORE_NOW_MS));
}

/** What the list must be, by the plainest means. */
function naiveList(kept: readonly WebhookDelivery[], scope: Scope, query: DeliveryQuery) {
  const matching = kept
    .filter(({ accountId }) => accountId === scope.accountId)
    .filter(({ environment }) => environment === scope.environment)
    .filter(({ status }) => query.status === undefined || status === query.status)
    .filter(({ endpointId }) => query.endpointId === undefined || endpointId === query.endpointId)
    .filter(({ eventId }) => query.eventId === undefined || eventId === query.eventId)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1));
  const page = matching.slice(query.offset, query.offset + query.limit);
  return { ids: page.map(({ id }) => id), total: matching.length };
}

test.each([
  ['', false],
  [', also while retention has not deleted the rows of a deleted endpoint', true],
])('DeliveryStore lists as a naive model does, for every combination of filters%s', async (_case, isDeleting) => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  for (const [id, scope] of Object.entries(ENDPOINTS)) {
    await store.webhookEndpoints.insert(buildEndpoint({ id, ...scope }));
  }
  for (const id of EVENTS) await store.events.insertQuiet(buildEvent({ id }));
  const drafts = fc.sample(deliveryArbitrary, { numRuns: 200, seed: 20_261_121 });
  // Ids are out of order on purpose: the order of insertion must not matter.
  const ids = drafts.map((_, index) => `dlv_${(index * 7919) % 1000}`);
  for (const [index, { endpointId, eventId, ...outcome }] of drafts.entries()) {
    await addDelivery(store, { endpointId, eventId, deliveryId: ids[index] ?? '' }, outcome);
  }
  if (isDeleting) await deleteOne(store);
  const kept: WebhookDelivery[] = [];
  for (const [index, id] of ids.entries()) {
    const { endpointId = '' } = drafts[index] ?? {};
    const found = await store.deliveries.find(ENDPOINTS[endpointId] ?? SCOPE, id);
    if (found !== undefined) kept.push(found);
  }
  const deleted = drafts.filter(({ endpointId }) => endpointId === 'we_deleted').length;
  expect(kept).toHaveLength(isDeleting ? 200 - deleted : 200);

  await fc.assert(
    fc.asyncProperty(scopeArbitrary, queryArbitrary, async (scope, query) => {
      const page = await store.deliveries.list(scope, query);

      expect({ ids: page.items.map(({ id }) => id), total: page.total }).toEqual(
        naiveList(kept, scope, query),
      );
    }),
    { numRuns: 500 },
  );
});

test('DeliveryStore lists with a total that was counted before, also after resends', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  await store.events.insertQuiet(buildEvent());
  await addDelivery(store, { endpointId: 'we_1', eventId: 'evt_1', deliveryId: 'dlv_1' });
  const sqlite = new Sqlite(store.file);
  sqlite.exec(`with recursive n(value) as (select 1 union all select value + 1 from n where value < 99999)
    insert into webhook_deliveries
    select 'dlv_x' || value, account_id, environment, endpoint_id, event_id || value, event_kind,
      event_at, status, attempts, next_attempt_at, last_status_code, last_error, created_at, finished_at
    from webhook_deliveries cross join n`);
  const scan = sqlite.prepare('select count(*) from webhook_deliveries where created_at > 0');
  const range = { from: new Date(0), before: new Date(STORE_NOW_MS + 1) };
  const resent = await store.deliveries.resendRange(SCOPE, range, new Date(STORE_NOW_MS));
  const page = { limit: 1, offset: 0 };

  const statuses = [undefined, 'failed', 'pending', 'succeeded'] as const;
  const totals: number[] = [];
  for (const status of statuses) {
    const query = { ...page, ...(status && { status }) };
    totals.push((await store.deliveries.list(SCOPE, query)).total);
  }
  const listMs = await leastMs(() => store.deliveries.list(SCOPE, page));
  const scanMs = await leastMs(() => scan.get());
  sqlite.close();

  expect(totals).toEqual([100_000, 100_000 - resent, resent, 0]);
  expect(listMs).toBeLessThan(scanMs / 4);
});
