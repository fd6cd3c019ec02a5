/** Spans on their way to a collector that is there, away, or silent. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { OtlpSpans, type SpanTree } from '../../src/lib/span-exporter.ts';
import { attributesOf, OtlpReceiver } from '../support/server/otlp-receiver.ts';

const NOW_MS = 1_893_456_000_000.25;

const leaf = (name: string): SpanTree => ({
  name,
  startMs: NOW_MS,
  endMs: NOW_MS + 20.5,
  attributes: { 'turn.number': 2, 'turn.speculated': true },
  children: [],
  instants: [],
});

function openSpans(url: string) {
  const logged: string[] = [];
  const note = (_fields: object, message: string) => void logged.push(message);
  const spans = new OtlpSpans({
    url: `${url}/v1/traces`,
    headers: {},
    serviceName: 'offhook',
    version: '0.0.0',
    log: { ...silentLogger, warn: note, info: note },
  });
  onTestFinished(() => spans.stop());
  return { logged, spans };
}

async function openReceiver() {
  const receiver = new OtlpReceiver();
  const url = await receiver.start();
  onTestFinished(() => receiver.stop());
  return { receiver, url };
}

test('OtlpSpans sends what waits when it is stopped: a trace for each tree, to the microsecond', async () => {
  const { receiver, url } = await openReceiver();
  const { spans } = openSpans(url);

  spans.add({ ...leaf('call'), children: [leaf('turn')] });
  spans.add(leaf('call'));
  await spans.stop();
  await spans.stop();

  const [turn, root, other] = receiver.spans;
  expect(receiver.spans.map(({ name }) => name)).toEqual(['turn', 'call', 'call']);
  expect(turn).toMatchObject({ traceId: root?.traceId, parentSpanId: root?.spanId });
  expect(other?.traceId).not.toBe(root?.traceId);
  expect(turn?.startTimeUnixNano).toBe('1893456000000250000');
  expect(turn?.endTimeUnixNano).toBe('1893456000020750000');
  expect(attributesOf(turn?.attributes ?? [])).toEqual({
    'turn.number': 2,
    'turn.speculated': true,
  });
});

test('OtlpSpans drops what it has no room for', async () => {
  const { receiver, url } = await openReceiver();
  const { spans } = openSpans(url);

  for (let count = 0; count < 20_000; count += 1) spans.add(leaf('turn'));
  await spans.stop();

  expect(receiver.spans.length).toBeGreaterThan(500);
  expect(receiver.spans.length).toBeLessThan(10_000);
});

test('OtlpSpans says once that the collector is away, and does not wait for it at its end', async () => {
  const { receiver, url } = await openReceiver();
  await receiver.stop();
  const { logged, spans } = openSpans(url);

  for (let count = 0; count < 2000; count += 1) spans.add(leaf('turn'));
  const stoppedAtMs = performance.now();
  await spans.stop();

  expect(performance.now() - stoppedAtMs).toBeLessThan(3500);
  await expect
    .poll(() => logged, { timeout: 15_000 })
    .toEqual(['traces cannot be delivered, calls go on']);
});

test('OtlpSpans does not wait at its end for a collector that says nothing', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : '';
  const { spans } = openSpans(`http://127.0.0.1:${port}`);

  spans.add(leaf('call'));
  await wait(10);
  const stoppedAtMs = performance.now();
  await spans.stop();

  expect(performance.now() - stoppedAtMs).toBeLessThan(3500);
});
