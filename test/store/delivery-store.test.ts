import { describe, expect, test } from 'vitest';
import { openTestStore, STORE_NOW_MS } from '../support/store/test-store.ts';
import { openWith, record } from '../support/webhook/webhook-deliveries.ts';
import { buildEndpoint, buildEvent, SCOPE } from '../support/webhook/webhook-world.ts';

const NOON = new Date(STORE_NOW_MS);

const LATER = new Date(STORE_NOW_MS + 3_600_000);

describe('DeliveryStore.sendTo', () => {
  test('makes a delivery that is due at once, also of a kind that the endpoint does not list', async () => {
    const store = await openTestStore();
    await store.webhookEndpoints.insert(buildEndpoint({ events: ['call.ended'] }));
    await store.events.insertQuiet(buildEvent({ kind: 'webhook.test' }));

    await store.deliveries.sendTo('we_1', { id: 'evt_1' }, 'dlv_1', LATER);

    expect(await store.deliveries.find(SCOPE, 'dlv_1')).toEqual({
      ...SCOPE,
      id: 'dlv_1',
      endpointId: 'we_1',
      eventId: 'evt_1',
      eventKind: 'webhook.test',
      callId: null,
      status: 'pending',
      attempts: 0,
      nextAttemptAt: LATER,
      lastStatusCode: null,
      lastError: null,
      createdAt: LATER,
      finishedAt: null,
    });
  });

  test('notifies', async () => {
    const store = await openWith({});
    await store.events.insertQuiet(buildEvent());
    let notices = 0;
    store.outbox.notifier.listen(() => {
      notices += 1;
    });

    await store.deliveries.sendTo('we_1', { id: 'evt_1' }, 'dlv_1', NOON);
    await Promise.resolve();

    expect(notices).toBe(1);
  });

  test.each([
    ['we_none', 'evt_0'],
    ['we_1', 'evt_none'],
  ])('refuses what was never kept: %s, %s', async (endpointId, id) => {
    const { deliveries } = await openWith({ 0: 'failed' });

    await expect(deliveries.sendTo(endpointId, { id }, 'dlv_1', NOON)).rejects.toThrow(
      'never kept',
    );
  });
});

describe('DeliveryStore.find', () => {
  test('finds nothing of another account or environment', async () => {
    const { deliveries } = await openWith({ 0: 'failed' });

    expect(await deliveries.find({ ...SCOPE, environment: 'test' }, 'dlv_0')).toBeUndefined();
    expect(await deliveries.find({ ...SCOPE, accountId: 'acct_2' }, 'dlv_0')).toBeUndefined();
    expect(await deliveries.find(SCOPE, 'dlv_0')).toBeDefined();
  });
});

describe('DeliveryStore.attempts', () => {
  test('gives the newest 50, oldest first', async () => {
    const store = await openWith({ 0: 'pending' });
    for (let attempt = 1; attempt <= 55; attempt++) {
      await record(store, 'dlv_0', { attempt, status: 'pending' });
    }

    const attempts = await store.deliveries.attempts('dlv_0');

    const numbers = Array.from({ length: 50 }, (_, index) => index + 6);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(numbers);
  });

  test('gives every field as it was recorded', async () => {
    const store = await openWith({ 0: 'failed' });

    expect(await store.deliveries.attempts('dlv_0')).toEqual([
      {
        attempt: 1,
        at: NOON,
        durationMs: 20,
        statusCode: 500,
        error: 'the receiver answered 500',
        responseText: 'oh no',
        requestHeaders: [{ name: 'webhook-id', value: 'evt_0' }],
        responseHeaders: [{ name: 'server', value: 'nginx' }],
      },
    ]);
  });
});
