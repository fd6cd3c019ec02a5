import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { WebhookDelivery } from '../../src/domain/webhook/webhook-delivery.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { answers, answersTogether, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';
import {
  buildEndpoint,
  buildEvent,
  happen,
  SCOPE,
  startDeliverer,
  until,
} from '../support/webhook/webhook-world.ts';

const newest = async (store: Store): Promise<WebhookDelivery | undefined> =>
  (await store.deliveries.list(SCOPE, { limit: 1, offset: 0 })).items[0];

test('Deliverer posts the stored bytes, signed, and keeps the answer', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answers(200, 'thanks'));
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const body = '{"event":"call.started","id":"evt_1","data":{"name":"Zoë ☎"}}';
  startDeliverer(store);

  await happen(store, buildEvent({ body }));
  await receiver.has(1);
  await until(async () => (await store.outbox.counts()).pending === 0);

  const [got] = receiver.received;
  const timestamp = String(got?.headers['x-service-timestamp']);
  const { current } =
    (await store.accounts.signingSecrets('acct_1', 'live', systemClock.now())) ?? {};
  const signature = createHmac('sha256', `${current}`).update(`${timestamp}.${body}`).digest('hex');
  expect(got?.body).toBe(body);
  expect(got?.method).toBe('POST');
  expect(got?.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Offhook/1.2.3',
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'x-service-signature': signature,
  });
  expect(timestamp).toMatch(/^\d{10}$/);
  expect(await newest(store)).toMatchObject({
    status: 'succeeded',
    attempts: 1,
    lastStatusCode: 200,
  });
  expect(await store.deliveries.attempts((await newest(store))?.id ?? '')).toMatchObject([
    { attempt: 1, statusCode: 200, error: null, responseText: 'thanks' },
  ]);
});

test('Deliverer makes five attempts, each after the wait of the schedule, with a new timestamp and the same body', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answers(500, 'no'));
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { attempts } = startDeliverer(store, { clock: store.clock });

  await happen(store, buildEvent());
  const waitsMs: (number | undefined)[] = [];
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await until(async () => (await newest(store))?.attempts === attempt);
    const nextAt = (await newest(store))?.nextAttemptAt;
    const waitMs = nextAt ? nextAt.getTime() - store.clock.nowMs() : undefined;
    waitsMs.push(waitMs);
    store.clock.advance(waitMs ?? 86_400_000);
  }

  expect(waitsMs).toEqual([30_000, 120_000, 600_000, 1_800_000, undefined]);
  expect(attempts).toEqual(Array(5).fill('http'));
  const stamps = receiver.received.map(({ headers }) => Number(headers['x-service-timestamp']));
  expect(stamps.map((stamp) => stamp - (stamps[0] ?? 0))).toEqual([0, 30, 150, 750, 2550]);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(await newest(store)).toMatchObject({
    status: 'failed',
    attempts: 5,
    lastStatusCode: 500,
    lastError: 'the receiver answered 500',
  });
});

test('Deliverer signs with every secret in the header of Standard Webhooks, and with the current one in ours', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const now = store.clock.now();
  await store.accounts.prepareSigningSecret(SCOPE, 'whsec_bmV3', now);
  startDeliverer(store, { clock: store.clock });

  await happen(store, buildEvent());
  await receiver.has(1);

  const [got] = receiver.received;
  const { body = '' } = got ?? {};
  const headers = got?.headers ?? ({} as IncomingHttpHeaders);
  const { current } = (await store.accounts.signingSecrets('acct_1', 'live', now)) ?? {};
  const content = `${headers['webhook-timestamp']}.${body}`;
  const standard = createHmac('sha256', 'new').update(`evt_1.${content}`).digest('base64');
  const ours = createHmac('sha256', `${current}`).update(content).digest('hex');
  const signatures = String(headers['webhook-signature']).split(' ');
  expect(signatures).toHaveLength(2);
  expect(signatures[1]).toBe(`v1,${standard}`);
  expect(headers['x-service-signature']).toBe(ours);
});

const eventsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => buildEvent({ id: `evt_${index}` }));

/** Answers what has come and waits for it, with 200. @returns how many. */
function answerAll(held: ServerResponse[]): number {
  for (const response of held) response.writeHead(200).end();
  return held.splice(0).length;
}

test('Deliverer has sixteen requests in flight to an endpoint that answers 200 slowly', async () => {
  const store = await openTestStore();
  const held: ServerResponse[] = [];
  const receiver = await WebhookReceiver.open((response) => void held.push(response));
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  startDeliverer(store, { clock: store.clock });

  await happen(store, ...eventsOf(40));
  const rounds: number[] = [];
  for (const count of [16, 32, 40]) {
    await receiver.has(count);
    store.clock.advance(9000);
    rounds.push(answerAll(held));
  }
  await until(async () => (await store.outbox.counts()).pending === 0);

  expect(rounds).toEqual([16, 16, 8]);
});

test('Deliverer tries an endpoint that fails one at a time, until it answers 2xx again', async () => {
  const store = await openTestStore();
  let isBroken = true;
  const held: ServerResponse[] = [];
  const receiver = await WebhookReceiver.open((response) => {
    if (isBroken) response.writeHead(500).end();
    else held.push(response);
  });
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  startDeliverer(store, { clock: store.clock });
  await happen(store, buildEvent({ id: 'evt_first' }));
  await until(async () => (await newest(store))?.attempts === 1);
  isBroken = false;

  await happen(store, ...eventsOf(40));
  await receiver.has(2);
  await until(async () => (await store.outbox.counts()).pending === 41);
  const whileFailing = answerAll(held);
  await receiver.has(18);

  expect(whileFailing).toBe(1);
  expect(receiver.received).toHaveLength(18);
});

test('Deliverer delivers to others while one endpoint hangs', async () => {
  const store = await openTestStore();
  const hanging = await WebhookReceiver.open(() => undefined);
  const healthy = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ id: 'we_1', url: hanging.url }));
  await store.webhookEndpoints.insert(buildEndpoint({ id: 'we_2', url: healthy.url }));
  startDeliverer(store);

  await happen(store, ...eventsOf(200));
  await healthy.has(200);

  expect(hanging.received.length).toBe(16);
  expect(new Set(healthy.ids).size).toBe(200);
});

test('Deliverer delivers to others once endpoints that hang have timed out, however many they are', async () => {
  const store = await openTestStore();
  const hanging = await WebhookReceiver.open(() => undefined);
  const healthy = await WebhookReceiver.open();
  for (let index = 0; index < 40; index += 1) {
    const fields = { id: `we_${index}`, url: hanging.url, events: ['call.started'] } as const;
    await store.webhookEndpoints.insert(buildEndpoint(fields));
  }
  const other = buildEndpoint({ id: 'we_other', url: healthy.url, events: ['call.ended'] });
  await store.webhookEndpoints.insert(other);
  startDeliverer(store, { clock: store.clock });
  await happen(store, ...eventsOf(20));
  await hanging.has(512);

  await happen(store, buildEvent({ id: 'evt_ended', kind: 'call.ended' }));
  await until(async () => (await store.outbox.counts()).pending === 40 * 20 + 1);
  const whileAllWait = healthy.received.length;
  store.clock.advance(10_000);
  await healthy.has(1);

  expect(whileAllWait).toBe(0);
  expect(healthy.ids).toEqual(['evt_ended']);
});

test('Deliverer sends a backlog of many endpoints whole, and no event again that was taken', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answersTogether());
  for (let index = 0; index < 30; index += 1) {
    await store.webhookEndpoints.insert(buildEndpoint({ id: `we_${index}`, url: receiver.url }));
  }
  await happen(store, ...eventsOf(40));

  const { attempts } = startDeliverer(store);
  await until(
    async () => receiver.received.length >= 1200 && (await store.outbox.counts()).pending === 0,
  );

  // On a busy machine an answer may come after the limit of time: such an attempt is made again.
  expect(attempts.filter((kind) => kind === 'ok')).toHaveLength(1200);
  expect(receiver.received.length).toBeLessThanOrEqual(attempts.length);
});

test('Deliverer sends at once what a customer resends', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  startDeliverer(store);
  await happen(store, buildEvent());
  await until(async () => (await newest(store))?.status === 'succeeded');

  await store.deliveries.resend(SCOPE, (await newest(store))?.id ?? '', systemClock.now());
  await receiver.has(2);
  await until(async () => (await newest(store))?.status === 'succeeded');

  expect(receiver.ids).toEqual(['evt_1', 'evt_1']);
  expect((await newest(store))?.attempts).toBe(1);
});

test('Deliverer makes an attempt when it falls due, not at its next look', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answers(500));
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const options = { clock: store.clock, waitsSeconds: [0, 0.2] };
  startDeliverer(store, options);
  await happen(store, buildEvent());
  await until(async () => (await newest(store))?.attempts === 1);

  store.clock.advance(199);
  await new Promise((resolve) => setImmediate(resolve));
  const early = receiver.received.length;
  store.clock.advance(1);
  await until(async () => (await newest(store))?.status === 'failed');

  expect([early, receiver.received.length]).toEqual([1, 2]);
});
