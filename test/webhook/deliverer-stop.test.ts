/** How the deliverer stops: nothing is lost, and nothing holds the stop up. */
import { expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../support/test-store.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import {
  buildEndpoint,
  buildEvent,
  happen,
  SCOPE,
  startDeliverer,
  until,
} from '../support/webhook-world.ts';

const deliveries = (store: TestStore) =>
  store.deliveries.list(SCOPE, { limit: 100, offset: 0 }).deliveries;

test('Deliverer.stop waits for what is on its way, and keeps its result', async () => {
  const store = await openTestStore();
  let answer: () => void = () => undefined;
  const receiver = await WebhookReceiver.open((response) => {
    answer = () => void response.writeHead(200).end();
  });
  store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { stop } = startDeliverer(store);
  happen(store, buildEvent());
  await receiver.has(1);

  const stopped = stop();
  answer();
  await stopped;
  await stop();

  expect(deliveries(store)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
});

test('Deliverer.stop takes back after two seconds what has no answer, to be attempted again under the same number', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open((response) => {
    if (receiver.received.length > 1) response.writeHead(200).end();
  });
  store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const first = startDeliverer(store, { clock: store.clock });
  happen(store, buildEvent());
  await receiver.has(1);

  const stopped = first.stop();
  store.clock.advance(2000);
  await stopped;
  const between = deliveries(store);
  startDeliverer(store, { clock: store.clock });
  await until(() => store.outbox.counts().pending === 0);

  expect(between).toMatchObject([{ status: 'pending', attempts: 0 }]);
  expect(receiver.ids).toEqual(['evt_1', 'evt_1']);
  expect(deliveries(store)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
});

test('Deliverer.stop sends what was written in the moment before, also more than an endpoint gets at a time', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { stop } = startDeliverer(store);
  const ids = Array.from({ length: 30 }, (_, index) => `evt_${index}`);

  happen(store, ...ids.map((id) => buildEvent({ id, kind: 'call.ended' })));
  await stop();

  expect(receiver.ids.toSorted()).toEqual(ids.toSorted());
  expect(store.outbox.counts().pending).toBe(0);
});

test('Deliverer takes nothing up after its stop', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { stop } = startDeliverer(store, { clock: store.clock });

  await stop();
  happen(store, buildEvent());
  store.clock.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));

  expect(store.clock.waiting).toBe(1);
  expect(deliveries(store)).toEqual([]);
});
