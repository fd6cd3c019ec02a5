import { expect, test } from 'vitest';
import { ATTEMPTS_KEPT } from '../../src/domain/account/account.ts';
import type { AttemptResult, DeliveryAttempt } from '../../src/domain/webhook/webhook-delivery.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { buildEndpoint, buildEvent, SCOPE } from '../support/webhook/webhook-world.ts';

const DAY_MS = 86_400_000;
const at = (afterMs: number) => new Date(STORE_NOW_MS + afterMs);

async function openOutbox(deliveries: number): Promise<TestStore> {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  for (let index = 1; index <= deliveries; index += 1) {
    const event = buildEvent({ id: `evt_${index}` });
    await store.events.insertQuiet(event);
    await store.deliveries.sendTo('we_1', event, `dlv_${index}`, at(0));
  }
  return store;
}

function result(
  fields: Partial<Omit<AttemptResult, 'attempt'>> & {
    readonly attempt?: Partial<DeliveryAttempt>;
  } = {},
): AttemptResult {
  const { attempt, isSuccess = false } = fields;
  return {
    deliveryId: 'dlv_1',
    nextAttemptAt: null,
    ...fields,
    isSuccess,
    attempt: {
      attempt: 1,
      at: at(0),
      durationMs: 12.4,
      statusCode: isSuccess ? 200 : 500,
      error: isSuccess ? null : 'the receiver answered 500',
      responseText: null,
      requestHeaders: null,
      responseHeaders: null,
      ...attempt,
    },
  };
}

const delivery = (store: TestStore, id = 'dlv_1') => store.deliveries.find(SCOPE, id);

test('Outbox.record keeps a success with its attempt', async () => {
  const store = await openOutbox(1);

  await store.outbox.record([result({ isSuccess: true, attempt: { responseText: 'ok' } })], at(20));

  expect(await delivery(store)).toMatchObject({
    status: 'succeeded',
    attempts: 1,
    nextAttemptAt: null,
    lastStatusCode: 200,
    lastError: null,
    finishedAt: at(12),
  });
  expect(await store.deliveries.attempts('dlv_1')).toEqual([
    {
      attempt: 1,
      at: at(0),
      durationMs: 12,
      statusCode: 200,
      error: null,
      responseText: 'ok',
      requestHeaders: null,
      responseHeaders: null,
    },
  ]);
});

test('Outbox.record keeps when a failed delivery is tried again, and that it is over after the last attempt', async () => {
  const store = await openOutbox(1);

  await store.outbox.record([result({ nextAttemptAt: at(30_000) })], at(20));
  const between = await delivery(store);
  await store.outbox.record([result({ attempt: { attempt: 2, at: at(30_000) } })], at(30_020));

  expect(between).toMatchObject({ status: 'pending', attempts: 1, nextAttemptAt: at(30_000) });
  expect(await delivery(store)).toMatchObject({
    status: 'failed',
    attempts: 2,
    nextAttemptAt: null,
    finishedAt: at(30_012),
  });
});

test('Outbox.record ignores a result that is not the next attempt of its delivery', async () => {
  const store = await openOutbox(1);

  await store.outbox.record([result({ attempt: { attempt: 3 } })], at(20));
  await store.outbox.record([result({ deliveryId: 'dlv_gone' })], at(20));

  expect(await delivery(store)).toMatchObject({ status: 'pending', attempts: 0 });
  expect(await store.deliveries.attempts('dlv_1')).toEqual([]);
});

test('Outbox.record disables an endpoint after ten failures in a row over seven days, and ends what waits for it', async () => {
  const store = await openOutbox(11);
  const fail = (index: number, afterMs: number) =>
    store.outbox.record(
      [result({ deliveryId: `dlv_${index}`, attempt: { at: at(afterMs) } })],
      at(afterMs),
    );
  for (let index = 1; index <= 9; index += 1) await fail(index, 0);

  const disabled = await fail(10, 7 * DAY_MS);

  const reason =
    'disabled by the server because 10 deliveries in a row failed since 2026-11-20T12:00:00.000Z; the newest: the receiver answered 500';
  expect(disabled).toEqual(['we_1']);
  expect(await store.webhookEndpoints.find(SCOPE, 'we_1')).toMatchObject({
    status: 'disabled',
    disabledReason: reason,
    updatedAt: at(7 * DAY_MS),
  });
  expect(await delivery(store, 'dlv_11')).toMatchObject({
    status: 'failed',
    attempts: 0,
    lastError: `Not sent: ${reason}`,
  });
});

test.each([
  ['a success came between', { successAt: 5, lastAfterMs: 7 * DAY_MS }],
  ['the first failure is not seven days old', { successAt: 0, lastAfterMs: 7 * DAY_MS - 1 }],
])('Outbox.record leaves an endpoint active after ten failures when %s', async (_, facts) => {
  const store = await openOutbox(11);
  const results = Array.from({ length: 11 }, (_unused, index) =>
    result({ deliveryId: `dlv_${index + 1}`, isSuccess: index === facts.successAt }),
  );
  await store.outbox.record(results.slice(0, 10), at(0));

  const disabled = await store.outbox.record(results.slice(10), at(facts.lastAfterMs));

  expect(disabled).toEqual([]);
  expect((await store.webhookEndpoints.find(SCOPE, 'we_1'))?.status).toBe('active');
});

test('Outbox.record begins to count failures again after a success', async () => {
  const store = await openOutbox(13);
  const outcomes = [false, true, ...Array<boolean>(11).fill(false)];
  const disabled: number[] = [];
  for (const [index, isSuccess] of outcomes.entries()) {
    const deliveryId = `dlv_${index + 1}`;
    const results = [result({ deliveryId, isSuccess })];
    disabled.push((await store.outbox.record(results, at(index * DAY_MS))).length);
  }

  expect(disabled.indexOf(1)).toBe(11);
});

test('Outbox.record takes the result of a delivery whose endpoint was deleted or is gone, and shows it nowhere', async () => {
  const store = await openOutbox(2);
  await store.webhookEndpoints.delete(SCOPE, 'we_1', at(0));

  const deleted = await store.outbox.record([result({ isSuccess: true })], at(20));
  await store.retention.prune(at(30));
  const gone = await store.outbox.record([result({ deliveryId: 'dlv_2' })], at(40));

  expect([deleted, gone]).toEqual([[], []]);
  expect(await delivery(store)).toBeUndefined();
  expect(await store.deliveries.attempts('dlv_2')).toEqual([]);
});

test('Outbox.record keeps the newest 50 attempts of a delivery, and those of others', async () => {
  const store = await openOutbox(2);
  await store.outbox.record([result({ deliveryId: 'dlv_2', nextAttemptAt: at(1) })], at(0));

  for (let attempt = 1; attempt <= 53; attempt += 1) {
    await store.outbox.record([result({ attempt: { attempt }, nextAttemptAt: at(1) })], at(0));
  }

  const kept = await store.deliveries.attempts('dlv_1');
  expect(kept.map(({ attempt }) => attempt)).toEqual(
    Array.from({ length: ATTEMPTS_KEPT }, (_, index) => index + 4),
  );
  expect(await store.deliveries.attempts('dlv_2')).toHaveLength(1);
});
