import { describe, expect, test } from 'vitest';
import { addKey, openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';
import { addDelivery, record } from '../support/webhook/webhook-deliveries.ts';
import { buildEvent } from '../support/webhook/webhook-world.ts';

const ENDPOINTS = '/api/webhooks/endpoints';

const DRAFT = { url: 'https://example.com/hook', events: ['call.started', 'call.ended'] };

const LIVE = { accountId: 'acct_main', environment: 'live' } as const;

async function create(api: TestApi, fields: object = {}): Promise<string> {
  const { status, body } = await api.json('POST', ENDPOINTS, { body: { ...DRAFT, ...fields } });
  expect(status).toBe(201);
  return body.id;
}

describe('GET /api/webhooks/endpoints', () => {
  test('lists newest first, in pages, those of the environment alone', async () => {
    const api = await openTestApi();
    const ids = [];
    for (let index = 0; index < 3; index++) {
      ids.unshift(await create(api));
      api.store.clock.advance(1000);
    }
    await api.json('POST', ENDPOINTS, { body: DRAFT, key: TEST_KEY });

    const { body } = await api.json('GET', `${ENDPOINTS}?limit=2&offset=1`);

    expect(body).toMatchObject({ total: 3, limit: 2, offset: 1 });
    expect(body.data.map(({ id }) => id)).toEqual(ids.slice(1));
    expect(body.data[0]).toEqual((await api.json('GET', `${ENDPOINTS}/${ids[1]}`)).body);
  });

  test.each([
    'limit=101',
    'limit=0',
    'offset=-1',
    'status=active',
  ])('answers 400 to ?%s', async (query) => {
    const api = await openTestApi();

    expect((await api.json('GET', `${ENDPOINTS}?${query}`)).status).toBe(400);
  });
});

describe('GET /api/webhooks/endpoints/{endpointId}', () => {
  test('answers with every field, and no secret', async () => {
    const api = await openTestApi();
    const id = await create(api);
    const [endpoint] = (await api.store.webhookEndpoints.list(LIVE, { limit: 1, offset: 0 })).items;
    const disabled = { status: 'disabled', disabledReason: 'it failed' } as const;
    if (endpoint !== undefined)
      await api.store.webhookEndpoints.update({ ...endpoint, ...disabled });

    const { status, body } = await api.json('GET', `${ENDPOINTS}/${id}`);

    expect(status).toBe(200);
    expect(body).toEqual({
      ...DRAFT,
      ...disabled,
      id,
      description: '',
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
      deliveryCounts: { pending: 0, succeeded: 0, failed: 0 },
      lastAttempt: null,
    });
  });

  test('tells how its deliveries went, and the newest attempt', async () => {
    const api = await openTestApi();
    const id = await create(api);
    for (const number of [1, 2, 3]) {
      const ids = { endpointId: id, eventId: `evt_${number}`, deliveryId: `dlv_${number}` };
      await api.store.events.insertQuiet(buildEvent({ ...LIVE, id: ids.eventId }));
      await addDelivery(api.store, ids, { status: number === 3 ? 'failed' : 'succeeded' });
      api.store.clock.advance(1000);
    }

    const { body } = await api.json('GET', `${ENDPOINTS}/${id}`);

    const error = 'the receiver answered 500';
    expect(body).toMatchObject({
      deliveryCounts: { pending: 0, succeeded: 2, failed: 1 },
      lastAttempt: { timestamp: '2026-11-20T12:00:00.000Z', statusCode: 500, error },
    });

    await api.store.deliveries.resend(LIVE, 'dlv_1', api.store.clock.now());
    await record(api.store, 'dlv_1', { status: 'succeeded', at: api.store.clock.now() });

    const again = (await api.json('GET', `${ENDPOINTS}/${id}`)).body;
    expect(again).toMatchObject({ lastAttempt: { statusCode: 200, error: null } });
  });
});

describe('PATCH /api/webhooks/endpoints/{endpointId}', () => {
  test('answers 200 with the endpoint as it is now, and changes nothing else', async () => {
    const api = await openTestApi();
    const path = `${ENDPOINTS}/${await create(api, { description: 'till' })}`;
    const before = (await api.json('GET', path)).body;
    api.store.clock.advance(5000);

    const patch = { events: ['call.bridged'], status: 'disabled' };
    const { status, body } = await api.json('PATCH', path, { body: patch });

    expect(status).toBe(200);
    expect(body).toEqual({ ...before, ...patch, updatedAt: '2026-11-20T12:00:05.000Z' });
    expect((await api.json('GET', path)).body).toEqual(body);
  });

  test.each([
    ['an empty body', {}, 400],
    ['an unknown field', { nickname: 'T' }, 400],
    ['a field of the wrong type', { description: 7 }, 400],
    ['no kinds', { events: [] }, 400],
    ['http', { url: 'http://example.com/' }, 400],
    ['a private address', { url: 'https://192.168.0.1/' }, 422],
    ['the status it has', { status: 'active' }, 200],
    ['a status that does not exist', { status: 'paused' }, 400],
    ['disabledReason', { disabledReason: 'x' }, 400],
  ])('answers to %s', async (_case, body, expected) => {
    const api = await openTestApi();
    const path = `${ENDPOINTS}/${await create(api)}`;
    const before = (await api.json('GET', path)).body;

    const { status } = await api.json('PATCH', path, { body });

    expect(status).toBe(expected);
    expect((await api.json('GET', path)).body).toEqual(before);
  });
});

describe('DELETE /api/webhooks/endpoints/{endpointId}', () => {
  test('answers 204 without a body, and then 404; its deliveries are gone', async () => {
    const api = await openTestApi();
    const path = `${ENDPOINTS}/${await create(api)}`;
    const { deliveryId } = (await api.json('POST', `${path}/test`)).body;

    const response = await api.request('DELETE', path);

    expect([response.status, await response.text()]).toEqual([204, '']);
    const again = await api.json('DELETE', path);
    expect(again.body.error).toMatchObject({ status: 404, code: 'WEBHOOK_ENDPOINT_NOT_FOUND' });
    const delivery = await api.json('GET', `/api/webhooks/deliveries/${deliveryId}`);
    expect(delivery.body.error).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

describe('POST /api/webhooks/endpoints/{endpointId}/test', () => {
  test('answers 202, and the event waits for this endpoint alone', async () => {
    const api = await openTestApi();
    await create(api);
    const id = await create(api, { events: ['call.bridged'] });

    const { status, body } = await api.json('POST', `${ENDPOINTS}/${id}/test`);

    const now = api.store.clock.now();
    await api.store.outbox.fanOut({ limit: 9, now });
    const due = await api.store.outbox.due(id, { now, limit: 9, except: [] });
    const waiting = (await api.store.outbox.waiting()).map(({ endpointId }) => endpointId);
    expect(status).toBe(202);
    expect(Object.keys(body).sort()).toEqual(['deliveryId', 'eventId']);
    expect(waiting).toEqual([id]);
    expect(due).toMatchObject([
      { ...{ id: body.deliveryId, eventId: body.eventId }, endpointId: id },
    ]);
    expect(JSON.parse(due[0]?.body ?? '')).toEqual({
      event: 'webhook.test',
      id: body.eventId,
      createdAt: now.toISOString(),
      data: { endpointId: id },
    });
  });

  test('answers 409 while the endpoint is disabled', async () => {
    const api = await openTestApi();
    const path = `${ENDPOINTS}/${await create(api)}`;
    await api.json('PATCH', path, { body: { status: 'disabled' } });

    const { body } = await api.json('POST', `${path}/test`);

    expect(body.error).toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  test('sends one event, however often a request is repeated with its key', async () => {
    const api = await openTestApi();
    const path = `${ENDPOINTS}/${await create(api)}/test`;
    const options = { headers: { 'X-Idempotency-Key': 'k1' } };

    const first = await api.json('POST', path, options);
    const again = await api.json('POST', path, options);

    expect(again).toEqual(first);
    expect((await api.json('GET', '/api/webhooks/deliveries')).body.total).toBe(1);
  });
});

test('A key that may only read webhooks may change none', async () => {
  const api = await openTestApi();
  const key = `svc_live_${'7'.repeat(32)}`;
  await addKey(api.store, key, {
    ...LIVE,
    scopes: ['webhooks:read', 'agents:write', 'calls:write'],
  });
  const path = `${ENDPOINTS}/${await create(api)}`;
  const ask = async (method: string, target: string, body?: object) =>
    (await api.request(method, target, { key, body })).status;

  expect([await ask('GET', ENDPOINTS), await ask('GET', path)]).toEqual([200, 200]);
  expect(await ask('POST', ENDPOINTS, DRAFT)).toBe(403);
  expect(await ask('PATCH', path, { description: 'x' })).toBe(403);
  expect(await ask('POST', `${path}/test`)).toBe(403);
  expect(await ask('DELETE', path)).toBe(403);
});
