import { expect, test } from 'vitest';
import { StoreError } from '../../src/domain/service-error.ts';
import type { Outbox } from '../../src/domain/webhook/webhook-delivery.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { answers, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';
import {
  buildEndpoint,
  buildEvent,
  happen,
  SCOPE,
  startDeliverer,
  until,
} from '../support/webhook/webhook-world.ts';

/** The store's outbox, some methods of which fail while the disk is full. */
function fillableOutbox(store: TestStore, failing: readonly ('fanOut' | 'record')[]) {
  const disk = { isFull: false, refusals: 0 };
  const guard = (name: 'fanOut' | 'record') => {
    if (!disk.isFull || !failing.includes(name)) return;
    disk.refusals += 1;
    throw new StoreError('Cannot use the database: the disk is full', 'full');
  };
  const { outbox } = store;
  const fillable: Outbox = {
    notifier: outbox.notifier,
    fanOut: async (options) => {
      guard('fanOut');
      return outbox.fanOut(options);
    },
    record: async (results, now) => {
      guard('record');
      return outbox.record(results, now);
    },
    waiting: () => outbox.waiting(),
    due: (endpointId, options) => outbox.due(endpointId, options),
    hurry: (options) => outbox.hurry(options),
    counts: () => outbox.counts(),
  };
  return { disk, outbox: fillable };
}

function noteLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const note = (_fields: object, message: string) => void lines.push(message);
  return { log: { ...silentLogger, warn: note, error: note }, lines };
}

const deliveries = async (store: TestStore) =>
  (await store.deliveries.list(SCOPE, { limit: 100, offset: 0 })).items;

test('Deliverer keeps results while the disk is full, sends nothing new, and nothing twice', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { disk, outbox } = fillableOutbox(store, ['record']);
  const { log, lines } = noteLog();
  disk.isFull = true;
  startDeliverer(store, { clock: store.clock, outbox, log });
  await happen(store, ...[1, 2, 3].map((index) => buildEvent({ id: `evt_${index}` })));
  await until(async () => disk.refusals === 1);

  await happen(store, buildEvent({ id: 'evt_4' }));
  for (let tries = 2; tries <= 4; tries += 1) {
    store.clock.advance(1000);
    await until(async () => disk.refusals === tries);
  }
  expect((await store.outbox.counts()).pending).toBe(3);
  // What went out before this request is there when it is answered.
  await fetch(receiver.url, { method: 'POST', body: '{"id":"evt_0"}' });
  const sentMeanwhile = receiver.ids.toSorted();
  disk.isFull = false;
  store.clock.advance(1000);
  await receiver.has(5);
  await until(async () => (await store.outbox.counts()).pending === 0);

  expect(sentMeanwhile).toEqual(['evt_0', 'evt_1', 'evt_2', 'evt_3']);
  expect(receiver.ids.toSorted()).toEqual(['evt_0', 'evt_1', 'evt_2', 'evt_3', 'evt_4']);
  expect((await deliveries(store)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
  expect(lines).toEqual(['webhooks wait: the outbox cannot be used']);
});

test('Deliverer waits while events cannot be fanned out, and goes on by itself', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { disk, outbox } = fillableOutbox(store, ['fanOut']);
  const { log, lines } = noteLog();
  disk.isFull = true;
  startDeliverer(store, { clock: store.clock, outbox, log });
  await happen(store, buildEvent());
  await until(async () => disk.refusals === 1);

  store.clock.advance(1000);
  await until(async () => disk.refusals === 2);
  disk.isFull = false;
  store.clock.advance(1000);
  await receiver.has(1);

  expect(receiver.ids).toEqual(['evt_1']);
  expect(lines).toEqual(['webhooks wait: the outbox cannot be used']);
});

test.each([
  ['while it runs', false],
  ['while it was down', true],
])('Deliverer retries as soon as it would have, when the clock is set back %s', async (_when, isDown) => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answers(503));
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const first = startDeliverer(store, { clock: store.clock });
  await happen(store, buildEvent({ id: 'evt_1' }));
  await until(async () => (await deliveries(store))[0]?.attempts === 1);

  if (isDown) await first.stop();
  store.clock.setCalendar(-3 * 3_600_000);
  if (isDown) startDeliverer(store, { clock: store.clock });
  else store.clock.advance(30_000);

  await until(async () => (await deliveries(store))[0]?.attempts === 2);
  expect(receiver.ids).toEqual(['evt_1', 'evt_1']);
});

test('Deliverer leaves retries as they are when the clock is set forward', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answers(503));
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  startDeliverer(store, { clock: store.clock });
  await happen(store, buildEvent({ id: 'evt_1' }));
  await until(async () => (await deliveries(store))[0]?.attempts === 1);

  store.clock.setCalendar(10_000);
  store.clock.advance(1000);
  await new Promise((resolve) => setTimeout(resolve, 50));

  const dueAt = new Date(STORE_NOW_MS + 30_000);
  expect(await deliveries(store)).toMatchObject([{ attempts: 1, nextAttemptAt: dueAt }]);
});

test('Deliverer.stop does not wait for an outbox that cannot be used', async () => {
  const store = await openTestStore();
  const { disk, outbox } = fillableOutbox(store, ['fanOut']);
  const { stop } = startDeliverer(store, { clock: store.clock, outbox });
  disk.isFull = true;

  await stop();

  expect(disk.refusals).toBeGreaterThan(0);
});

test('Deliverer tells the operator when an endpoint was disabled, and ends what waits for it', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(answers(503));
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { log, lines } = noteLog();
  startDeliverer(store, { clock: store.clock, log, waitsSeconds: [0] });
  for (let index = 1; index <= 10; index += 1) {
    store.clock.advance(86_400_000);
    await happen(store, buildEvent({ id: `evt_${index}` }));
    await until(
      async () =>
        (await deliveries(store)).filter(({ status }) => status === 'failed').length === index,
    );
  }

  await happen(store, buildEvent({ id: 'evt_11' }));
  await new Promise((resolve) => setImmediate(resolve));

  expect(await store.webhookEndpoints.find(SCOPE, 'we_1')).toMatchObject({
    status: 'disabled',
    disabledReason: expect.stringContaining('10 deliveries in a row failed'),
    updatedAt: new Date(STORE_NOW_MS + 10 * 86_400_000),
  });
  expect(lines).toEqual(['webhook endpoint disabled: it has failed for too long']);
  expect(receiver.received.length).toBe(10);
});

test('Deliverer goes on when an endpoint is deleted while a delivery is on its way to it', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open(async (response, { body }) => {
    if (body.includes('evt_1"')) await store.webhookEndpoints.delete(SCOPE, 'we_1', new Date());
    response.writeHead(200).end();
  });
  for (const id of ['we_1', 'we_2']) {
    const events = [id === 'we_1' ? 'call.started' : 'call.ended'] as const;
    await store.webhookEndpoints.insert(buildEndpoint({ id, url: receiver.url, events }));
  }
  startDeliverer(store);

  await happen(store, buildEvent({ id: 'evt_1' }));
  await receiver.has(1);
  await happen(store, buildEvent({ id: 'evt_2', kind: 'call.ended' }));
  await until(async () => (await deliveries(store))[0]?.status === 'succeeded');

  expect((await deliveries(store)).map(({ eventId }) => eventId)).toEqual(['evt_2']);
});

test('Deliverer looks once a second while results cannot be written', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { disk, outbox } = fillableOutbox(store, ['record']);
  let looks = 0;
  const counting: Outbox = {
    ...outbox,
    fanOut: async (options) => {
      looks += 1;
      return outbox.fanOut(options);
    },
  };
  disk.isFull = true;
  startDeliverer(store, { clock: store.clock, outbox: counting });
  await happen(store, buildEvent(), buildEvent({ id: 'evt_2' }));
  await until(async () => disk.refusals === 1);

  const before = looks;
  for (let step = 0; step < 20; step += 1) {
    store.clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(looks - before).toBeLessThanOrEqual(4);
});

test('Deliverer tells the operator of a delivery that was not received, once, after its last attempt', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open((response, { body }) =>
    response.writeHead(body.includes('evt_good') ? 200 : 500).end(),
  );
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const lines: unknown[] = [];
  const log = {
    ...silentLogger,
    info: (fields: object, message: string) => void lines.push([message, fields]),
  };
  startDeliverer(store, { clock: store.clock, log, waitsSeconds: [0, 30] });
  await happen(store, buildEvent({ id: 'evt_good' }), buildEvent({ id: 'evt_bad' }));
  await until(
    async () => (await deliveries(store)).filter(({ attempts }) => attempts === 1).length === 2,
  );
  const early = lines.length;

  store.clock.advance(30_000);
  await until(async () => (await store.outbox.counts()).pending === 0);

  const failed = (await deliveries(store)).find(({ eventId }) => eventId === 'evt_bad');
  const fields = { deliveryId: failed?.id, attempt: 2, why: 'the receiver answered 500' };
  expect(early).toBe(0);
  expect(lines).toEqual([['webhook not received', fields]]);
});
