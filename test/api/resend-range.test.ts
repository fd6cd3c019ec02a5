import { describe, expect, test } from 'vitest';
import type { DeliveryStatus } from '../../src/domain/webhook/webhook-delivery.ts';
import { FOREIGN_KEY, openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';
import { addDelivery, record } from '../support/webhook/webhook-deliveries.ts';
import { buildEndpoint, buildEvent } from '../support/webhook/webhook-world.ts';

const RESEND = '/api/webhooks/resend';

const LIVE = { accountId: 'acct_main', environment: 'live' } as const;

const DAY = { from: '2026-11-20', to: '2026-11-20' };

/** Endpoint `we_1`, and for each id a delivery of it whose event was created at the time given. */
async function openWith(
  times: Readonly<Record<string, string>>,
  status: DeliveryStatus = 'failed',
): Promise<TestApi> {
  const api = await openTestApi();
  await api.store.webhookEndpoints.insert(buildEndpoint({ ...LIVE }));
  for (const [id, time] of Object.entries(times)) {
    const createdAt = new Date(time);
    await api.store.events.insertQuiet(buildEvent({ ...LIVE, id: `evt_${id}`, createdAt }));
    const ids = { endpointId: 'we_1', eventId: `evt_${id}`, deliveryId: id };
    await addDelivery(api.store, ids, { status });
  }
  return api;
}

async function resend(api: TestApi, body: object) {
  return await api.json('POST', RESEND, { body });
}

/** Ids of the deliveries that go out again. */
async function pendingOf(api: TestApi): Promise<readonly string[]> {
  const query = { status: 'pending', limit: 100, offset: 0 } as const;
  const { items: deliveries } = await api.store.deliveries.list(LIVE, query);
  return deliveries.map(({ id }) => id).sort();
}

describe('POST /api/webhooks/resend', () => {
  const BORDERS = {
    a: '2026-11-19T23:59:59.999Z',
    b: '2026-11-20T00:00:00.000Z',
    c: '2026-11-20T23:59:59.999Z',
    d: '2026-11-21T00:00:00.000Z',
  };

  test.each([
    ['a day', DAY, ['b', 'c']],
    ['days', { from: '2026-11-19', to: '2026-11-21' }, ['a', 'b', 'c', 'd']],
    [
      'timestamps, the last of them exclusive',
      { from: '2026-11-19T23:59:59.999Z', to: '2026-11-20T23:59:59.999Z' },
      ['a', 'b'],
    ],
    [
      'timestamps of another zone',
      { from: '2026-11-20T01:00:00+01:00', to: '2026-11-20T23:00:00.001-00:59' },
      ['b'],
    ],
    ['a day and a timestamp', { from: '2026-11-20', to: '2026-11-20T00:00:00.001Z' }, ['b']],
    ['nothing', { from: '2026-11-01', to: '2026-11-02' }, []],
  ])('answers 202 to %s, and how many go out again', async (_case, body, expected) => {
    const api = await openWith(BORDERS);

    const answer = await resend(api, body);

    expect(answer).toEqual({ status: 202, body: { resent: expected.length } });
    expect(await pendingOf(api)).toEqual(expected);
  });

  test('takes failed deliveries unless told otherwise', async () => {
    const api = await openWith({ a: '2026-11-20T12:00:00Z' }, 'succeeded');

    expect((await resend(api, DAY)).body).toEqual({ resent: 0 });
    expect((await resend(api, { ...DAY, status: 'failed' })).body).toEqual({ resent: 0 });
    expect((await resend(api, { ...DAY, status: 'succeeded' })).body).toEqual({ resent: 1 });
  });

  test('takes the deliveries of one endpoint, and leaves out those of disabled ones', async () => {
    const api = await openWith({ a: '2026-11-20T12:00:00Z' });
    const { webhookEndpoints } = api.store;
    for (const id of ['we_2', 'we_off']) {
      await webhookEndpoints.insert(buildEndpoint({ ...LIVE, id }));
      await addDelivery(api.store, { endpointId: id, eventId: 'evt_a', deliveryId: id });
    }
    await webhookEndpoints.update(buildEndpoint({ ...LIVE, id: 'we_off', status: 'disabled' }));

    const one = await resend(api, { ...DAY, endpointId: 'we_2' });
    const disabled = await resend(api, { ...DAY, endpointId: 'we_off' });
    const others = await resend(api, DAY);

    expect(one.body).toEqual({ resent: 1 });
    expect(disabled.body.error).toMatchObject({ status: 409, code: 'CONFLICT' });
    expect(others.body).toEqual({ resent: 1 });
    expect(await pendingOf(api)).toEqual(['a', 'we_2']);
  });

  test.each([
    ['another account', FOREIGN_KEY],
    ['the other environment', TEST_KEY],
  ])('knows no endpoint of %s, and resends nothing of it', async (_case, key) => {
    const api = await openWith({ a: '2026-11-20T12:00:00Z' });
    const ask = async (body: object) => {
      const { status, body: answer } = await api.json('POST', RESEND, { key, body });
      return { status, text: JSON.stringify(answer).replace(/req_\w+/, 'req_') };
    };

    const ofTheirs = await ask({ ...DAY, endpointId: 'we_1' });
    const ofNone = await ask({ ...DAY, endpointId: 'we_none' });
    const ofAll = await ask(DAY);

    expect(ofTheirs).toEqual(ofNone);
    expect(ofTheirs).toMatchObject({
      status: 404,
      text: expect.stringContaining('WEBHOOK_ENDPOINT_NOT_FOUND'),
    });
    expect(ofAll).toEqual({ status: 202, text: '{"resent":0}' });
    expect(await pendingOf(api)).toEqual([]);
  });

  test.each([
    ['no from', { to: '2026-11-20' }, 'from'],
    ['no to', { from: '2026-11-20' }, 'to'],
    ['a day that does not exist', { from: '2026-02-30', to: '2026-03-01' }, 'from'],
    ['a time without a zone', { from: '2026-11-20T12:00:00', to: '2026-11-20' }, 'from'],
    ['a number', { from: 0, to: '2026-11-20' }, 'from'],
    ['words', { from: 'yesterday', to: '2026-11-20' }, 'from'],
    [
      'an end that is the beginning',
      { from: '2026-11-20T12:00:00Z', to: '2026-11-20T12:00:00Z' },
      'to',
    ],
    ['an end before the beginning', { from: '2026-11-20', to: '2026-11-19' }, 'to'],
    ['32 days', { from: '2026-10-01', to: '2026-11-01' }, 'to'],
    ['31 days and a millisecond', { from: '2026-10-01', to: '2026-11-01T00:00:00.001Z' }, 'to'],
    ['pending ones', { ...DAY, status: 'pending' }, 'status'],
    ['an unknown field', { ...DAY, limit: 5 }, 'limit'],
  ])('answers 400 to %s, naming the field', async (_case, body, path) => {
    const api = await openTestApi();

    const answer = await resend(api, body);

    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(answer.body.error.details.map((detail) => detail.path)).toEqual([path]);
  });

  test('says what is required where from or to is missing', async () => {
    const api = await openTestApi();

    const { body } = await resend(api, {});

    const message =
      'required: a timestamp such as 2026-11-21T08:00:00.000Z, or a day such as 2026-11-21';
    expect(body.error.message).toBe(`Cannot read the body: from: ${message}`);
    expect(body.error.details).toEqual([
      { path: 'from', message },
      { path: 'to', message },
    ]);
  });

  test('takes 31 days', async () => {
    const api = await openTestApi();

    expect((await resend(api, { from: '2026-10-01', to: '2026-10-31' })).status).toBe(202);
  });

  test('resends once, however often a request is repeated with its key', async () => {
    const api = await openWith({ a: '2026-11-20T12:00:00Z' });
    const options = { body: DAY, headers: { 'X-Idempotency-Key': 'k1' } };

    const first = await api.json('POST', RESEND, options);
    await record(api.store, 'a');
    const again = await api.json('POST', RESEND, options);

    expect(first.body).toEqual({ resent: 1 });
    expect(again).toEqual(first);
    expect(await pendingOf(api)).toEqual([]);
  });
});
