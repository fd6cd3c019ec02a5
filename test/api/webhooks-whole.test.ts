/** From the request to the customer's server and back into the list: the interface with a deliverer behind it. */
import { expect, test } from 'vitest';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';
import { answers, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';
import {
  buildEvent,
  happen,
  LOCAL_RULES,
  startDeliverer,
  until,
} from '../support/webhook/webhook-world.ts';

const LIVE = { accountId: 'acct_main', environment: 'live' } as const;

const ENDPOINTS = '/api/webhooks/endpoints';

/** One attempt a delivery, so that a failure is final. */
async function openWhole(receiver: WebhookReceiver) {
  const api = await openTestApi({ webhookUrlRules: LOCAL_RULES });
  startDeliverer(api.store, { clock: api.store.clock, waitsSeconds: [0] });
  const body = { url: receiver.url, events: ['call.started'] };
  const { id } = (await api.json('POST', ENDPOINTS, { body })).body;
  return { api, path: `${ENDPOINTS}/${id}` };
}

/** Resolves when so many deliveries have the status. */
async function untilThereAre(
  { store }: TestApi,
  count: number,
  status: 'succeeded' | 'failed',
): Promise<void> {
  const query = { status, limit: 1, offset: 0 };
  await until(async () => (await store.deliveries.list(LIVE, query)).total === count);
}

test('A test event arrives and is listed as succeeded', async () => {
  const receiver = await WebhookReceiver.open();
  const { api, path } = await openWhole(receiver);

  const { deliveryId, eventId } = (await api.json('POST', `${path}/test`)).body;
  await untilThereAre(api, 1, 'succeeded');

  const { body } = await api.json('GET', `/api/webhooks/deliveries/${deliveryId}`);
  expect(receiver.ids).toEqual([eventId]);
  expect(body).toMatchObject({
    event: 'webhook.test',
    status: 'succeeded',
    attempts: 1,
    lastStatusCode: 200,
    attemptDetails: [{ attempt: 1, statusCode: 200, error: null }],
  });
});

test('What failed is sent again as it was, one by one and all at once', async () => {
  let isBroken = true;
  const receiver = await WebhookReceiver.open((response, received) =>
    answers(isBroken ? 500 : 200)(response, received),
  );
  const { api } = await openWhole(receiver);
  const events = ['evt_1', 'evt_2', 'evt_3'].map((id) => buildEvent({ ...LIVE, id }));
  await happen(api.store, ...events);
  await untilThereAre(api, 3, 'failed');
  isBroken = false;

  const [first] = (await api.json('GET', '/api/webhooks/deliveries?eventId=evt_1')).body.data;
  await api.json('POST', `/api/webhooks/deliveries/${first?.id}/resend`);
  await untilThereAre(api, 1, 'succeeded');
  const range = { body: { from: '2026-11-20', to: '2026-11-20' } };
  const resent = await api.json('POST', '/api/webhooks/resend', range);
  await untilThereAre(api, 3, 'succeeded');

  expect(resent.body).toEqual({ resent: 2 });
  expect(receiver.ids[3]).toBe('evt_1');
  expect(receiver.ids.slice(4).sort()).toEqual(['evt_2', 'evt_3']);
  for (const { body } of receiver.received) {
    expect(events.map((event) => event.body)).toContain(body);
  }
});

test('A delivery whose endpoint is deleted meanwhile leaves nothing behind', async () => {
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<() => void>();
  const receiver = await WebhookReceiver.open((response) =>
    hold(() => void response.writeHead(200).end()),
  );
  const { api, path } = await openWhole(receiver);
  await happen(api.store, buildEvent({ ...LIVE }));
  const answer = await isHeld;

  const { status } = await api.request('DELETE', path);
  answer();
  await happen(api.store, buildEvent({ ...LIVE, id: 'evt_2' }));
  await until(async () => (await api.store.outbox.counts()).pending === 0);

  expect(status).toBe(204);
  expect((await api.json('GET', '/api/webhooks/deliveries')).body.total).toBe(0);
  expect(receiver.ids).toEqual(['evt_1']);
});
