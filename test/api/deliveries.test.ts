import { describe, expect, test } from 'vitest';
import type { DeliveryStatus } from '../../src/domain/webhook/webhook-delivery.ts';
import {
  addKey,
  FOREIGN_KEY,
  openTestApi,
  TEST_KEY,
  type TestApi,
} from '../support/api/test-api.ts';
import { STORE_NOW_MS } from '../support/store/test-store.ts';
import { addDelivery, record } from '../support/webhook/webhook-deliveries.ts';
import { buildEndpoint, buildEvent } from '../support/webhook/webhook-world.ts';

const DELIVERIES = '/api/webhooks/deliveries';

const LIVE = { accountId: 'acct_main', environment: 'live' } as const;

const NOON = '2026-11-20T12:00:00.000Z';

/** Endpoint `we_1` with a delivery `dlv_<index>` for each status, a second apart. */
async function openWith(...statuses: readonly DeliveryStatus[]): Promise<TestApi> {
  const api = await openTestApi();
  await api.store.webhookEndpoints.insert(buildEndpoint({ ...LIVE }));
  for (const [index, status] of statuses.entries()) {
    const at = new Date(STORE_NOW_MS + index * 1000);
    await api.store.events.insertQuiet(buildEvent({ ...LIVE, id: `evt_${index}`, createdAt: at }));
    const ids = { endpointId: 'we_1', eventId: `evt_${index}`, deliveryId: `dlv_${index}` };
    await addDelivery(api.store, ids, { status, at });
  }
  return api;
}

async function disable(api: TestApi): Promise<void> {
  await api.store.webhookEndpoints.update(buildEndpoint({ ...LIVE, status: 'disabled' }));
}

async function idsOf(api: TestApi, query: string): Promise<readonly string[]> {
  const { status, body } = await api.json('GET', `${DELIVERIES}?${query}`);
  expect(status).toBe(200);
  return body.data.map(({ id }) => id);
}

describe('GET /api/webhooks/deliveries', () => {
  test('answers with the envelope and exactly the fields of an item, newest first', async () => {
    const api = await openWith('failed', 'pending');

    const { status, body } = await api.json('GET', DELIVERIES);

    const finishedAt = '2026-11-20T12:00:00.020Z';
    const common = { endpointId: 'we_1', event: 'call.started', callId: null };
    const fresh = { attempts: 0, lastStatusCode: null, lastError: null, finishedAt: null };
    const createdAt = '2026-11-20T12:00:01.000Z';
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          ...common,
          ...fresh,
          id: 'dlv_1',
          eventId: 'evt_1',
          status: 'pending',
          nextAttemptAt: createdAt,
          createdAt,
        },
        {
          ...common,
          id: 'dlv_0',
          eventId: 'evt_0',
          status: 'failed',
          attempts: 1,
          nextAttemptAt: null,
          lastStatusCode: 500,
          lastError: 'the receiver answered 500',
          createdAt: NOON,
          finishedAt,
        },
      ],
      total: 2,
      limit: 20,
      offset: 0,
    });
  });

  test('filters and pages', async () => {
    const api = await openWith('failed', 'pending', 'succeeded', 'failed');

    expect(await idsOf(api, 'status=failed')).toEqual(['dlv_3', 'dlv_0']);
    expect(await idsOf(api, 'status=pending')).toEqual(['dlv_1']);
    expect(await idsOf(api, 'status=succeeded&endpointId=we_1')).toEqual(['dlv_2']);
    expect(await idsOf(api, 'eventId=evt_2')).toEqual(['dlv_2']);
    expect(await idsOf(api, 'endpointId=we_none')).toEqual([]);
    expect(await idsOf(api, 'limit=2&offset=1')).toEqual(['dlv_2', 'dlv_1']);
  });

  test('shows nothing of another account or environment', async () => {
    const api = await openWith('failed');

    for (const key of [FOREIGN_KEY, TEST_KEY]) {
      const { body } = await api.json('GET', `${DELIVERIES}?endpointId=we_1`, { key });
      expect(body).toMatchObject({ data: [], total: 0 });
    }
  });

  test.each([
    'limit=101',
    'limit=0',
    'offset=-1',
    'status=lost',
    'status=failed&status=pending',
    'endpointId=',
    'sort=asc',
  ])('answers 400 to ?%s', async (query) => {
    const api = await openTestApi();

    expect((await api.json('GET', `${DELIVERIES}?${query}`)).status).toBe(400);
  });
});

describe('GET /api/webhooks/deliveries/{deliveryId}', () => {
  test('answers with the delivery and what each attempt met, oldest first', async () => {
    const api = await openWith('pending');
    await record(api.store, 'dlv_0', { status: 'pending' });
    await record(api.store, 'dlv_0', { status: 'succeeded', attempt: 2 });

    const { status, body } = await api.json('GET', `${DELIVERIES}/dlv_0`);

    const [item] = (await api.json('GET', DELIVERIES)).body.data;
    const headers = {
      requestHeaders: [{ name: 'webhook-id', value: 'evt_0' }],
      responseHeaders: [{ name: 'server', value: 'nginx' }],
    };
    const attempt = { timestamp: NOON, durationMs: 20, ...headers };
    const failure = { statusCode: 500, error: 'the receiver answered 500', responseText: 'oh no' };
    const success = { statusCode: 200, error: null, responseText: 'ok' };
    expect(status).toBe(200);
    expect(body).toEqual({
      ...item,
      requestBody: expect.stringContaining('"id":"evt_0"'),
      attemptDetails: [
        { ...attempt, ...failure, attempt: 1 },
        { ...attempt, ...success, attempt: 2 },
      ],
    });
    expect(body).toMatchObject({ status: 'succeeded', attempts: 2, lastError: null });
  });

  test('shows what was said on calls to keys alone that may read calls', async () => {
    const api = await openWith('succeeded');
    const key = `svc_live_${'W'.repeat(32)}`;
    await addKey(api.store, key, { ...LIVE, scopes: ['webhooks:read'] });

    const { status, body } = await api.json('GET', `${DELIVERIES}/dlv_0`, { key });

    expect(status).toBe(200);
    expect(body).toMatchObject({ requestBody: null });
  });
});

describe('POST /api/webhooks/deliveries/{deliveryId}/resend', () => {
  const PATH = `${DELIVERIES}/dlv_0/resend`;

  test.each([
    'failed',
    'succeeded',
  ] as const)('answers 202 to a %s delivery, which is pending again', async (status) => {
    const api = await openWith(status);
    const before = (await api.json('GET', `${DELIVERIES}/dlv_0`)).body;
    api.store.clock.advance(60_000);

    const answer = await api.json('POST', PATH);

    const after = (await api.json('GET', `${DELIVERIES}/dlv_0`)).body;
    const nextAttemptAt = '2026-11-20T12:01:00.000Z';
    expect(after).toEqual({
      ...before,
      status: 'pending',
      attempts: 0,
      nextAttemptAt,
      finishedAt: null,
    });
    expect(answer.status).toBe(202);
    expect(after).toMatchObject(answer.body);
  });

  test('sends one at once that waits for its next attempt, and keeps the attempts before', async () => {
    const api = await openWith('pending');
    await record(api.store, 'dlv_0', { status: 'pending' });
    const waiting = (await api.json('GET', `${DELIVERIES}/dlv_0`)).body;
    api.store.clock.advance(1000);

    const answer = await api.json('POST', PATH);

    const after = (await api.json('GET', `${DELIVERIES}/dlv_0`)).body;
    expect(waiting).toMatchObject({ attempts: 1, nextAttemptAt: '2026-11-20T12:00:30.000Z' });
    expect(answer.status).toBe(202);
    expect(after).toEqual({ ...waiting, nextAttemptAt: '2026-11-20T12:00:01.000Z' });
  });

  test('answers 409 while it is being sent', async () => {
    const api = await openWith('pending');

    const { body } = await api.json('POST', PATH);

    expect(body.error).toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  test('answers 409 while its endpoint is disabled', async () => {
    const api = await openWith('failed');
    await disable(api);

    const { body } = await api.json('POST', PATH);

    expect(body.error).toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  test('resends once, however often a request is repeated with its key', async () => {
    const api = await openWith('failed');
    const options = { headers: { 'X-Idempotency-Key': 'k1' } };

    const first = await api.json('POST', PATH, options);
    await record(api.store, 'dlv_0', { status: 'succeeded' });
    const again = await api.json('POST', PATH, options);

    expect(again).toEqual(first);
    expect((await api.store.deliveries.find(LIVE, 'dlv_0'))?.status).toBe('succeeded');
  });
});

test('A key that may only read webhooks may send nothing again', async () => {
  const api = await openWith('failed');
  const key = `svc_live_${'7'.repeat(32)}`;
  await addKey(api.store, key, { ...LIVE, scopes: ['webhooks:read'] });
  const body = { from: '2026-11-20', to: '2026-11-20' };

  const statuses = [
    (await api.request('GET', DELIVERIES, { key })).status,
    (await api.request('GET', `${DELIVERIES}/dlv_0`, { key })).status,
    (await api.request('POST', `${DELIVERIES}/dlv_0/resend`, { key })).status,
    (await api.request('POST', '/api/webhooks/resend', { key, body })).status,
  ];

  expect(statuses).toEqual([200, 200, 403, 403]);
  expect((await api.store.deliveries.find(LIVE, 'dlv_0'))?.status).toBe('failed');
});
