import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Outbox } from '../../src/domain/outbox.ts';
import type { WebhookDelivery } from '../../src/domain/webhook-delivery.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { openTestStore } from '../support/test-store.ts';
import { answers, answersTogether, WebhookReceiver } from '../support/webhook-receiver.ts';
import {
  buildEndpoint,
  buildEvent,
  happen,
  SCOPE,
  startDeliverer,
  until,
} from '../support/webhook-world.ts';

const newest = (store: Store): WebhookDelivery | undefined =>
  store.deliveries.list(SCOPE, { limit: 1, offset: 0 }).deliveries[0];

test('Deliverer posts the stored bytes, signed, and keeps the answer', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answers(200, 'thanks'));
  store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const body = '{"event":"call.started","id":"evt_1","data":{"name":"Zoë ☎"}}';
  startDeliverer(store);

  happen(store, buildEvent({ body }));
  await receiver.has(1);
  await until(() => store.outbox.counts().pending === 0);

  const [got] = receiver.received;
  const timestamp = String(got?.headers['x-service-timestamp']);
  const { current } = store.accounts.signingSecrets('acct_1', 'live', systemClock.now()) ?? {};
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
  expect(newest(store)).toMatchObject({ status: 'succeeded', attempts: 1, lastStatusCode: 200 });
  expect(store.deliveries.attempts(newest(store)?.id ?? '')).toMatchObject([
    { attempt: 1, statusCode: 200, error: null, responseText: 'thanks' },
  ]);
});

test('Deliverer makes five attempts, each after the wait of the schedule, with a new timestamp and the same body', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answers(500, 'no'));
  store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { attempts } = startDeliverer(store, { clock: store.clock });

  happen(store, buildEvent());
  const waitsMs: (number | undefined)[] = [];
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await until(() => newest(store)?.attempts === attempt);
    const nextAt = newest(store)?.nextAttemptAt;
    const waitMs = nextAt ? nextAt.getTime() - store.clock.nowMs() : undefined;
    waitsMs.push(waitMs);
    store.clock.advance(waitMs ?? 86_400_000);
  }

  expect(waitsMs).toEqual([30_000, 120_000, 600_000, 1_800_000, undefined]);
  expect(attempts).toEqual(Array(5).fill('http'));
  const stamps = receiver.received.map(({ headers }) => Number(headers['x-service-timestamp']));
  expect(stamps.map((stamp) => stamp - (stamps[0] ?? 0))).toEqual([0, 30, 150, 750, 2550]);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(newest(store)).toMatchObject({
    status: 'failed',
    attempts: 5,
    lastStatusCode: 500,
    lastError: 'the receiver answered 500',
  });
});

test('Deliverer signs with both secrets after a rotation', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  store.accounts.rotateSigningSecret('acct_1', 'live', 'whsec_bmV3', store.clock.now());
  startDeliverer(store, { clock: store.clock });

  happen(store, buildEvent());
  await receiver.has(1);

  const signatures = String(receiver.received[0]?.headers['webhook-signature']).split(' ');
  expect(signatures).toHaveLength(2);
  expect(signatures.every((signature) => /^v1,[A-Za-z0-9+/]{43}=$/.test(signature))).toBe(true);
});

test('Deliverer delivers to others while one endpoint hangs, with four on their way to it at most', async () => {
  const store = await openTestStore();
  const hanging = await WebhookReceiver.open(() => undefined);
  const healthy = await WebhookReceiver.open();
  store.webhookEndpoints.insert(buildEndpoint({ id: 'we_1', url: hanging.url }));
  store.webhookEndpoints.insert(buildEndpoint({ id: 'we_2', url: healthy.url }));
  startDeliverer(store);

  happen(store, ...Array.from({ length: 200 }, (_, index) => buildEvent({ id: `evt_${index}` })));
  await healthy.has(200);

  expect(hanging.received.length).toBe(4);
  expect(new Set(healthy.ids).size).toBe(200);
});

test('Deliverer delivers to an endpoint that answers while twenty others hang', async () => {
  const store = await openTestStore();
  const hanging = await WebhookReceiver.open(() => undefined);
  const healthy = await WebhookReceiver.open();
  for (let index = 1; index <= 20; index += 1) {
    const fields = { id: `we_hangs_${index}`, url: hanging.url, events: ['call.started'] } as const;
    store.webhookEndpoints.insert(buildEndpoint(fields));
  }
  store.webhookEndpoints.insert(
    buildEndpoint({ id: 'we_healthy', url: healthy.url, events: ['call.ended'] }),
  );
  startDeliverer(store, { clock: store.clock });
  happen(store, ...[1, 2, 3, 4, 5].map((index) => buildEvent({ id: `evt_${index}` })));
  await hanging.has(64);

  store.clock.advance(1001);
  for (let index = 10; index < 30; index += 1) {
    happen(store, buildEvent({ id: `evt_${index}`, kind: 'call.ended' }));
    await healthy.has(index - 9);
    // Results are written in groups, by the clock.
    store.clock.advance(20);
  }

  expect(healthy.received).toHaveLength(20);
});

test('Deliverer has no more than 64 deliveries on their way that are quick so far', async () => {
  const store = await openTestStore();
  const hanging = await WebhookReceiver.open(() => undefined);
  for (let index = 0; index < 20; index += 1) {
    store.webhookEndpoints.insert(buildEndpoint({ id: `we_${index}`, url: hanging.url }));
  }
  startDeliverer(store, { clock: store.clock });

  happen(store, ...Array.from({ length: 10 }, (_, index) => buildEvent({ id: `evt_${index}` })));
  await hanging.has(64);
  store.clock.advance(1000);
  await until(() => store.outbox.counts().pending === 200);

  expect(hanging.received.length).toBe(64);
});

test('Deliverer asks the outbox seldom for a backlog, and sends it whole', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answersTogether());
  for (let index = 0; index < 30; index += 1) {
    store.webhookEndpoints.insert(buildEndpoint({ id: `we_${index}`, url: receiver.url }));
  }
  happen(store, ...Array.from({ length: 40 }, (_, index) => buildEvent({ id: `evt_${index}` })));
  let looks = 0;
  const { outbox } = store;
  const counting: Outbox = {
    bell: outbox.bell,
    fanOut: (options) => outbox.fanOut(options),
    record: (results, now) => outbox.record(results, now),
    nextDueAt: () => outbox.nextDueAt(),
    counts: () => outbox.counts(),
    due: (options) => {
      looks += 1;
      return outbox.due(options);
    },
  };

  startDeliverer(store, { outbox: counting });
  await until(() => outbox.counts().pending === 0 && receiver.received.length === 1200);

  expect(looks).toBeLessThan(30);
});

test('Deliverer sends at once what a customer resends', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  startDeliverer(store);
  happen(store, buildEvent());
  await until(() => newest(store)?.status === 'succeeded');

  store.deliveries.resend(SCOPE, newest(store)?.id ?? '', systemClock.now());
  await receiver.has(2);
  await until(() => newest(store)?.status === 'succeeded');

  expect(receiver.ids).toEqual(['evt_1', 'evt_1']);
  expect(newest(store)?.attempts).toBe(1);
});
