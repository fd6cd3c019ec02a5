/** How the deliverer stops: nothing is lost, and nothing holds the stop up. */
import { expect, test } from 'vitest';
import type { Outbox } from '../../src/domain/webhook/webhook-delivery.ts';
import { Notifier } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { type Answer, answerOfStatus, type Sender } from '../../src/webhook/answer.ts';
import { Deliverer } from '../../src/webhook/deliverer.ts';
import { openTestStore, STORE_TIMERS, type TestStore } from '../support/store/test-store.ts';
import { WebhookReceiver } from '../support/webhook/webhook-receiver.ts';
import {
  buildEndpoint,
  buildEvent,
  happen,
  SCOPE,
  startDeliverer,
  until,
} from '../support/webhook/webhook-world.ts';

/** Resolves when looks that are due were made. */
const looked = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** A deliverer whose attempts are answered, or cancelled, as the test says. */
function openByHand(store: TestStore, outbox: Outbox = store.outbox) {
  const answers: ((answer: Answer) => void)[] = [];
  const sent: string[] = [];
  const cancelled: string[] = [];
  const sender: Sender = {
    send: ({ eventId }, signal) => {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      const onAbort = () => void cancelled.push(eventId);
      signal.addEventListener('abort', onAbort);
      answers.push((answer) => {
        signal.removeEventListener('abort', onAbort);
        resolve(answer);
      });
      sent.push(eventId);
      return promise;
    },
  };
  const deliverer = new Deliverer({
    outbox,
    sender,
    meter: { attempted: () => undefined },
    clock: store.clock,
    log: silentLogger,
    waitsSeconds: [0, 30],
    jitter: () => 0,
  });
  return { deliverer, answers, sent, cancelled };
}

const deliveries = async (store: TestStore) =>
  (await store.deliveries.list(SCOPE, { limit: 100, offset: 0 })).items;

test('Deliverer.stop waits for what is on its way, and keeps its result', async () => {
  const store = await openTestStore();
  let answer: () => void = () => undefined;
  const receiver = await WebhookReceiver.open((response) => {
    answer = () => void response.writeHead(200).end();
  });
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { stop } = startDeliverer(store);
  await happen(store, buildEvent());
  await receiver.has(1);

  const stopped = stop();
  answer();
  await stopped;
  await stop();

  expect(await deliveries(store)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
});

test('Deliverer.stop takes back after two seconds what has no answer, to be attempted again under the same number', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open((response) => {
    if (receiver.received.length > 1) response.writeHead(200).end();
  });
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const first = startDeliverer(store, { clock: store.clock });
  await happen(store, buildEvent());
  await receiver.has(1);

  const stopped = first.stop();
  store.clock.advance(2000);
  await stopped;
  const between = await deliveries(store);
  startDeliverer(store, { clock: store.clock });
  await until(async () => (await store.outbox.counts()).pending === 0);

  expect(between).toMatchObject([{ status: 'pending', attempts: 0 }]);
  expect(receiver.ids).toEqual(['evt_1', 'evt_1']);
  expect(await deliveries(store)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
});

test('Deliverer.stop sends what was written in the moment before, also more than an endpoint gets at a time', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { stop } = startDeliverer(store);
  await looked();
  const ids = Array.from({ length: 30 }, (_, index) => `evt_${index}`);

  await happen(store, ...ids.map((id) => buildEvent({ id, kind: 'call.ended' })));
  await stop();

  expect(receiver.ids.toSorted()).toEqual(ids.toSorted());
  expect((await store.outbox.counts()).pending).toBe(0);
});

test('Deliverer takes nothing up after its stop', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { stop } = startDeliverer(store, { clock: store.clock });

  await stop();
  await happen(store, buildEvent());
  store.clock.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));

  expect(store.clock.waiting).toBe(STORE_TIMERS);
  expect(await deliveries(store)).toEqual([]);
});

test('Deliverer.stop keeps an answer that came in the last moment, and cancels what has none', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  const { deliverer, answers, sent, cancelled } = openByHand(store);
  deliverer.start();
  await happen(store, buildEvent({ id: 'evt_1' }), buildEvent({ id: 'evt_2' }));
  await until(async () => answers.length === 2);

  const stopped = deliverer.stop();
  answers[0]?.(answerOfStatus(200));
  store.clock.advance(2000);
  await stopped;

  const statuses = (await deliveries(store)).map(({ eventId, status }) => [eventId, status]);
  expect(Object.fromEntries(statuses)).toEqual({
    [sent[0] ?? '']: 'succeeded',
    [sent[1] ?? '']: 'pending',
  });
  expect(cancelled).toEqual([sent[1]]);
});

test('Deliverer.stop sends on while answers come, for two seconds', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  const { deliverer, answers } = openByHand(store);
  deliverer.start();
  await happen(
    store,
    ...Array.from({ length: 17 }, (_, index) => buildEvent({ id: `evt_${index}` })),
  );
  await until(async () => answers.length === 16);
  let isStopped = false;

  const stopped = deliverer.stop().then(() => {
    isStopped = true;
  });
  store.clock.advance(1999);
  answers[0]?.(answerOfStatus(200));
  await looked();
  const [begun, isStoppedEarly] = [answers.length, isStopped];
  store.clock.advance(1);
  await stopped;

  expect([begun, isStoppedEarly]).toEqual([17, false]);
  expect((await store.outbox.counts()).pending).toBe(16);
});

test('Deliverer.stop ends as soon as the last answer is recorded', async () => {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  const { deliverer, answers } = openByHand(store);
  deliverer.start();
  await happen(
    store,
    ...Array.from({ length: 17 }, (_, index) => buildEvent({ id: `evt_${index}` })),
  );
  await until(async () => answers.length === 16);

  const stopped = deliverer.stop();
  for (const answer of answers.splice(0)) answer(answerOfStatus(200));
  await until(async () => answers.length === 1);
  answers[0]?.(answerOfStatus(500));
  await stopped;

  expect(store.clock.waiting).toBe(STORE_TIMERS);
  expect((await deliveries(store)).filter(({ status }) => status === 'succeeded')).toHaveLength(16);
  expect((await store.outbox.counts()).pending).toBe(1);
});

test('Deliverer.stop listens no longer, and ends at once when nothing was started', async () => {
  const store = await openTestStore();
  const notifier = new Notifier();
  let [listeners, looks] = [0, 0];
  const counted = Object.assign(Object.create(notifier), {
    listen: () => {
      listeners += 1;
      return () => {
        listeners -= 1;
      };
    },
  }) as Notifier;
  const outbox: Outbox = {
    notifier: counted,
    fanOut: async (options) => {
      looks += 1;
      return store.outbox.fanOut(options);
    },
    waiting: () => store.outbox.waiting(),
    due: (endpointId, options) => store.outbox.due(endpointId, options),
    record: (results, now) => store.outbox.record(results, now),
    hurry: (options) => store.outbox.hurry(options),
    counts: () => store.outbox.counts(),
  };
  const { deliverer } = openByHand(store, outbox);
  deliverer.start();
  const whileRunning = listeners;

  await deliverer.stop();
  const looksAtStop = looks;
  await openByHand(store, outbox).deliverer.stop();

  expect([whileRunning, listeners]).toEqual([1, 0]);
  expect([looksAtStop, looks]).toEqual([1, 1]);
});

test('Deliverer.stop looks at every event that was written before', async () => {
  const store = await openTestStore();
  const receiver = await WebhookReceiver.open();
  await store.webhookEndpoints.insert(buildEndpoint({ url: receiver.url }));
  const { stop } = startDeliverer(store);
  await looked();
  const others = Array.from({ length: 25 }, (_, index) =>
    buildEvent({ id: `evt_${index}`, kind: 'call.bridged' }),
  );

  await happen(store, ...others, buildEvent({ id: 'evt_last' }));
  await stop();

  expect(receiver.ids).toEqual(['evt_last']);
});
