/** One stream of Server-Sent Events: when it pings, when it is full, and how it ends. */
import { setImmediate } from 'node:timers/promises';
import { StreamingApi } from 'hono/utils/stream';
import { expect, test } from 'vitest';
import { EventStream } from '../../src/api/http/event-stream.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const BACKLOG_BYTES = 1024 * 1024;
const RETRY = 'retry: 2000\n\n';
const FRAME = 'event: big\ndata: ""\n\n';

function openStream(mayGoOn: () => boolean = () => true) {
  const clock = new FakeClock();
  let ends = 0;
  const options = {
    clock,
    mayGoOn: async () => mayGoOn(),
    onEnded: () => {
      ends += 1;
    },
  };
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const body = new StreamingApi(writable, readable);
  const stream = new EventStream(body, options);
  void stream.ended.then(() => body.close());
  return { clock, stream, body: body.responseReadable, ends: () => ends };
}

/** Sends one event that makes everything sent so long. */
function fillTo(stream: EventStream, sizeBytes: number): void {
  stream.send('big', 'x'.repeat(sizeBytes - RETRY.length - FRAME.length));
}

const textOf = (body: ReadableStream<Uint8Array>) => new Response(body).text();

test('EventStream sends a comment after 15 s of silence, and not before', async () => {
  const { body, clock, stream } = openStream();
  await clock.pass(1000);
  stream.send('a', 1);

  await clock.pass(14_500);
  stream.send('b', 2);
  await clock.pass(15_000);
  stream.end();

  const parts = (await textOf(body)).split('\n\n');
  expect(parts).toEqual(['retry: 2000', 'event: a\ndata: 1', 'event: b\ndata: 2', ': ping', '']);
});

test('EventStream ends when a client has left a mebibyte unread, and not before', () => {
  const [below, full] = [openStream(), openStream()];

  fillTo(below.stream, BACKLOG_BYTES - 1);
  fillTo(full.stream, BACKLOG_BYTES);

  expect([below.ends(), full.ends()]).toEqual([0, 1]);
  expect(full.clock.waiting).toBe(0);
});

test.each<[string, () => boolean]>([
  ['says no', () => false],
  [
    'cannot be asked',
    () => {
      throw new Error('no database');
    },
  ],
])('EventStream ends half a second after mayGoOn %s', async (_case, mayGoOn) => {
  const { body, clock, ends } = openStream(mayGoOn);

  await clock.pass(499);
  const before = ends();
  await clock.pass(1);
  await setImmediate();

  expect([before, ends(), clock.waiting]).toEqual([0, 1, 0]);
  expect(await textOf(body)).toBe(RETRY);
});

test('EventStream ends once, and sends nothing after that', async () => {
  const { body, stream, ends } = openStream();

  stream.end();
  stream.end();
  stream.send('late', 1);

  expect(ends()).toBe(1);
  expect(await textOf(body)).toBe(RETRY);
});

test('EventStream is over when its client goes away', async () => {
  const { body, clock, ends } = openStream();

  await body.cancel();

  expect([ends(), clock.waiting]).toEqual([1, 0]);
});
