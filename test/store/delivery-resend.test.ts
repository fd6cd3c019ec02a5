import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { RESENDS_MAX } from '../../src/domain/webhook/webhook-endpoint.ts';
import { STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { leastMs } from '../support/time/least-ms.ts';
import { addDelivery, openWith, record } from '../support/webhook/webhook-deliveries.ts';
import { buildEndpoint, SCOPE } from '../support/webhook/webhook-world.ts';

const LATER = new Date(STORE_NOW_MS + 3_600_000);

const conflict = expect.objectContaining({ code: 'CONFLICT' });

const minute = (count: number) => new Date(STORE_NOW_MS + count * 60_000);

async function statusesOf(store: TestStore): Promise<Readonly<Record<string, string>>> {
  const { items: deliveries } = await store.deliveries.list(SCOPE, { limit: 99, offset: 0 });
  return Object.fromEntries(deliveries.map(({ id, status }) => [id, status]));
}

describe('DeliveryStore.resend', () => {
  test.each([
    'failed',
    'succeeded',
  ] as const)('begins a %s delivery again, at once', async (status) => {
    const store = await openWith({ 0: status });
    const before = await store.deliveries.find(SCOPE, 'dlv_0');

    const resent = await store.deliveries.resend(SCOPE, 'dlv_0', LATER);

    expect(resent).toEqual({
      ...before,
      status: 'pending',
      attempts: 0,
      nextAttemptAt: LATER,
      finishedAt: null,
    });
    expect(await store.deliveries.find(SCOPE, 'dlv_0')).toEqual(resent);
    expect(await store.deliveries.attempts('dlv_0')).toHaveLength(1);
    expect(await store.outbox.waiting()).toEqual([{ endpointId: 'we_1', dueAt: LATER }]);
  });

  test('notifies', async () => {
    const store = await openWith({ 0: 'failed' });
    let notices = 0;
    store.outbox.notifier.listen(() => {
      notices += 1;
    });

    await store.deliveries.resend(SCOPE, 'dlv_0', LATER);
    await Promise.resolve();

    expect(notices).toBe(1);
  });

  test('refuses a pending delivery, and leaves it as it was', async () => {
    const store = await openWith({ 0: 'pending' });
    await record(store, 'dlv_0', { status: 'pending' });
    const before = await store.deliveries.find(SCOPE, 'dlv_0');

    await expect(store.deliveries.resend(SCOPE, 'dlv_0', LATER)).rejects.toThrow(conflict);
    expect(await store.deliveries.find(SCOPE, 'dlv_0')).toEqual(before);
  });

  test('refuses while the endpoint is disabled', async () => {
    const store = await openWith({ 0: 'failed' });
    await store.webhookEndpoints.update(buildEndpoint({ status: 'disabled' }));

    await expect(store.deliveries.resend(SCOPE, 'dlv_0', LATER)).rejects.toThrow(conflict);
  });

  test('is no way to another environment', async () => {
    const store = await openWith({ 0: 'failed' });
    const resend = () => store.deliveries.resend({ ...SCOPE, environment: 'test' }, 'dlv_0', LATER);

    await expect(resend()).rejects.toThrow('never kept');
    expect(await statusesOf(store)).toEqual({ dlv_0: 'failed' });
  });
});

/** Adds so many deliveries like the ones that are there, each a millisecond later, to `we_1` and `we_2` by turns. */
function multiply(store: TestStore, count: number): void {
  const sqlite = new Sqlite(store.file);
  sqlite.exec(`with recursive n(value) as
      (select 1 union all select value + 1 from n where value < ${count})
    insert into webhook_deliveries
    select 'dlv_x' || value, account_id, environment, iif(value % 2 = 0, 'we_2', endpoint_id),
      event_id || value, event_kind, event_at + value, status, attempts, next_attempt_at,
      last_status_code, last_error, created_at - value, finished_at
    from webhook_deliveries cross join n`);
  sqlite.close();
}

describe('DeliveryStore.resendRange', () => {
  const FOUR = { 0: 'failed', 1: 'failed', 2: 'failed', 3: 'failed' } as const;

  test('takes up what its beginning has, and not what its end has', async () => {
    const store = await openWith(FOUR);

    const range = { from: minute(1), before: minute(3) };
    const resent = await store.deliveries.resendRange(SCOPE, range, LATER);

    expect(resent).toBe(2);
    expect(await statusesOf(store)).toEqual({
      dlv_0: 'failed',
      dlv_1: 'pending',
      dlv_2: 'pending',
      dlv_3: 'failed',
    });
  });

  test('begins each again from its first attempt', async () => {
    const store = await openWith({ 0: 'failed' });
    const before = await store.deliveries.find(SCOPE, 'dlv_0');

    await store.deliveries.resendRange(SCOPE, { from: minute(0), before: minute(1) }, LATER);

    expect(await store.deliveries.find(SCOPE, 'dlv_0')).toEqual({
      ...before,
      status: 'pending',
      attempts: 0,
      nextAttemptAt: LATER,
      finishedAt: null,
    });
  });

  test.each([
    [undefined, 'dlv_0'],
    ['failed', 'dlv_0'],
    ['succeeded', 'dlv_1'],
    ['pending', undefined],
  ] as const)('takes up those of the status %s', async (status, expected) => {
    const store = await openWith({ 0: 'failed', 1: 'succeeded', 2: 'pending' });
    await record(store, 'dlv_2', { status: 'pending' });
    const range = { from: minute(0), before: minute(9), ...(status && { status }) };

    const resent = await store.deliveries.resendRange(SCOPE, range, LATER);

    const restarted = (await store.deliveries.list(SCOPE, { limit: 9, offset: 0 })).items.filter(
      ({ nextAttemptAt }) => nextAttemptAt?.getTime() === LATER.getTime(),
    );
    expect(resent).toBe(expected === undefined ? 0 : 1);
    expect(restarted[0]?.id).toBe(expected);
  });

  test('notifies when it takes up some, and only then', async () => {
    const store = await openWith({ 0: 'failed' });
    let notices = 0;
    store.outbox.notifier.listen(() => {
      notices += 1;
    });

    await store.deliveries.resendRange(SCOPE, { from: minute(1), before: minute(2) }, LATER);
    await Promise.resolve();
    const noticesForNone = notices;
    await store.deliveries.resendRange(SCOPE, { from: minute(0), before: minute(1) }, LATER);
    await Promise.resolve();

    expect([noticesForNone, notices]).toEqual([0, 1]);
  });

  test('takes up those of one endpoint, and leaves out disabled ones', async () => {
    const store = await openWith({ 0: 'failed' });
    for (const id of ['we_2', 'we_3']) {
      await store.webhookEndpoints.insert(buildEndpoint({ id }));
      await addDelivery(store, { endpointId: id, eventId: 'evt_0', deliveryId: `dlv_${id}` });
    }
    await store.webhookEndpoints.update(buildEndpoint({ id: 'we_3', status: 'disabled' }));
    const range = { from: minute(0), before: minute(1) };
    const resend = (endpointId?: string) =>
      store.deliveries.resendRange(SCOPE, { ...range, ...(endpointId && { endpointId }) }, LATER);

    expect(await resend('we_3')).toBe(0);
    expect(await resend('we_2')).toBe(1);
    expect(await resend()).toBe(1);
    expect(await statusesOf(store)).toEqual({
      dlv_0: 'pending',
      dlv_we_2: 'pending',
      dlv_we_3: 'failed',
    });
  });

  test.each([
    [undefined],
    ['we_2'],
  ])('reads none but those that it takes up, of endpoint %s', async (endpointId) => {
    const store = await openWith({ 0: 'succeeded' });
    const { deliveries } = store;
    await store.webhookEndpoints.insert(buildEndpoint({ id: 'we_2' }));
    multiply(store, 100_000);
    const sqlite = new Sqlite(store.file);
    const all = sqlite.prepare('select count(*) from webhook_deliveries where event_at > 0');

    const range = { from: minute(0), before: minute(9), ...(endpointId && { endpointId }) };
    const resendMs = await leastMs(() => deliveries.resendRange(SCOPE, range, LATER));
    const scanMs = await leastMs(() => all.get());
    sqlite.close();

    expect(resendMs).toBeLessThan(scanMs / 4);
  });

  test('takes up nothing of another environment', async () => {
    const store = await openWith({ 0: 'failed' });
    const range = { from: minute(0), before: minute(1) };

    const sandbox = { ...SCOPE, environment: 'test' } as const;

    expect(await store.deliveries.resendRange(sandbox, range, LATER)).toBe(0);
  });

  test('takes up the oldest of all endpoints together, two thousand at once', async () => {
    const store = await openWith({ 0: 'failed' });
    await store.webhookEndpoints.insert(buildEndpoint({ id: 'we_2' }));
    multiply(store, RESENDS_MAX + 5);
    const range = { from: minute(0), before: minute(9) };

    const resent = await store.deliveries.resendRange(SCOPE, range, LATER);

    const query = { status: 'failed', limit: 99, offset: 0 } as const;
    const left = (await store.deliveries.list(SCOPE, query)).items.map(({ id }) => id);
    expect(resent).toBe(RESENDS_MAX);
    expect(left.sort()).toEqual(
      Array.from({ length: 6 }, (_, index) => `dlv_x${RESENDS_MAX + index}`),
    );
  });
});
