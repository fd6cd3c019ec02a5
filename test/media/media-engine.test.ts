import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { AudioEvent, MediaSession } from '../../src/media/audio-stream.ts';
import {
  MediaEngine,
  MediaEngineError,
  type MediaEngineOptions,
} from '../../src/media/engine/media-engine.ts';
import { startMediaWorker } from '../../src/media/engine/media-worker-handle.ts';
import { PortsExhaustedError } from '../../src/media/engine/port-pool.ts';
import { readWavHeader } from '../../src/media/recording/wav-file.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { TestPhone } from './test-phone.ts';
import { reply, VOICE } from './test-session.ts';

const LOOPBACK = { signallingAddress: '127.0.0.1' };

const cleanUps: (() => unknown)[] = [];

/** For the tests that need nothing special of theirs. */
const shared = engineWith({ ports: { first: 16_000, last: 16_199 } });
beforeAll(() => shared.start());
afterAll(() => shared.stop());

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function engineWith(options: Partial<MediaEngineOptions>): MediaEngine {
  return new MediaEngine({
    ...{ clock: systemClock, log: silentLogger, ports: { first: 16_200, last: 16_299 } },
    ...{ workers: 1, drainMs: 0, isRealTime: false },
    ...options,
  });
}

async function startEngine(options: Partial<MediaEngineOptions> = {}): Promise<MediaEngine> {
  const engine = engineWith(options);
  cleanUps.push(() => engine.stop());
  await engine.start();
  return engine;
}

async function openPhone(address?: string): Promise<TestPhone> {
  const phone = await TestPhone.open(address);
  cleanUps.push(() => phone.close());
  return phone;
}

/** Resolves with the first event of a kind. */
function eventOf(session: MediaSession, kind: AudioEvent['kind']): Promise<AudioEvent> {
  return new Promise((resolve) => {
    session.onEvent((event) => {
      if (event.kind === kind) resolve(event);
    });
  });
}

test('MediaEngine carries a reply to the far end and says when it was played', async () => {
  const phone = await openPhone();
  const session = await shared.open(LOOPBACK);
  const finished = eventOf(session, 'playout-finished');
  const pcm = reply(3);

  session.setRemote(phone.agreed);
  session.begin(1);
  session.say(1, pcm);
  session.finish(1);

  expect(await finished).toMatchObject({ generation: 1, playedMs: 60, isComplete: true });
  expect(pcm).toHaveLength(480);
  expect(phone.received.filter(({ hasMarker }) => hasMarker)).toHaveLength(1);
});

test('MediaEngine hears the far end, in memory that is shared with it', async () => {
  const phone = await openPhone();
  const session = await shared.open(LOOPBACK);
  const started = eventOf(session, 'voice-started');
  session.setRemote(phone.agreed);

  await phone.untilReceived(1);
  for (let packet = 0; packet < 5; packet += 1) phone.send(VOICE, session.localPort);

  expect(await started).toMatchObject({ kind: 'voice-started' });
  expect(Math.max(...session.heard.read(0))).toBeGreaterThan(7000);
});

test('MediaEngine sends nothing on a held session, no report either, until it is confirmed', async () => {
  const phone = await openPhone();
  const session = await shared.open({ ...LOOPBACK, isHeld: true });
  session.setRemote(phone.agreed);
  session.begin(1);
  session.say(1, reply(3));
  session.finish(1);
  await new Promise((resolve) => setTimeout(resolve, 300));

  const before = phone.received.length;
  session.confirm();
  session.confirm();
  await phone.untilReceived(1);

  expect(before).toBe(0);
  expect(phone.received[0]?.hasMarker).toBe(true);
});

test('MediaEngine speaks on a held session once the far end sends something', async () => {
  const phone = await openPhone();
  const session = await shared.open({ ...LOOPBACK, isHeld: true });
  const arrived = eventOf(session, 'media-arrived');
  session.setRemote(phone.agreed);

  const before = session.hasArrived;
  // Its thread answers after it has taken the far end's address, without which a packet is a stranger's.
  await session.stats();
  phone.send(VOICE, session.localPort);
  await arrived;
  await phone.untilReceived(1);

  expect([before, session.hasArrived]).toEqual([false, true]);
});

test('MediaEngine leaves a held session held when a stranger sends something', async () => {
  const [phone, stranger] = [await openPhone(), await openPhone('127.0.0.9')];
  const session = await shared.open({ ...LOOPBACK, isHeld: true });
  session.setRemote(phone.agreed);

  for (let packet = 0; packet < 20; packet += 1) stranger.send(VOICE, session.localPort);
  await new Promise((resolve) => setTimeout(resolve, 200));

  expect(await session.stats()).toMatchObject({ packetsReceived: 0, packetsRejected: 20 });
  expect([phone.received, stranger.received]).toEqual([[], []]);
});

test('MediaEngine drops and counts what strangers send', async () => {
  const [phone, stranger] = [await openPhone(), await openPhone('127.0.0.9')];
  const session = await shared.open(LOOPBACK);
  session.setRemote(phone.agreed);

  await phone.untilReceived(1);
  for (let packet = 0; packet < 20; packet += 1) stranger.send(VOICE, session.localPort);
  phone.send(VOICE, session.localPort);
  await phone.untilReceived(5);

  const stats = await session.stats();
  expect(stats).toMatchObject({ packetsReceived: 1, packetsRejected: 20 });
  expect(stranger.received).toEqual([]);
});

test('MediaEngine has a whole recording on disk when a session is closed', async () => {
  const phone = await openPhone();
  const path = join(await mkdtemp(join(tmpdir(), 'offhook-media-')), 'call.wav');
  const session = await shared.open(LOOPBACK);
  session.setRemote(phone.agreed);

  session.record(path);
  await phone.untilReceived(10);
  await session.close();

  const file = await readFile(path);
  expect(readWavHeader(file)?.dataBytes).toBe(file.length - 44);
  expect(file.length).toBeGreaterThan(44 + 8 * 32 * 20);
});

test('MediaEngine tells that a recording cannot be written while the call goes on', async () => {
  const phone = await openPhone();
  const session = await shared.open(LOOPBACK);
  const failed = eventOf(session, 'recording-failed');
  session.setRemote(phone.agreed);

  session.record('/nowhere/call.wav');

  expect(await failed).toMatchObject({ reason: expect.stringContaining('ENOENT') });
  await phone.untilReceived(phone.received.length + 5);
});

test('MediaEngine passes over a port that another program has', async () => {
  const other = createSocket('udp4');
  other.bind(16_301, '127.0.0.1');
  await once(other, 'listening');
  cleanUps.push(() => other.close());
  const engine = await startEngine({ ports: { first: 16_300, last: 16_303 } });

  const session = await engine.open(LOOPBACK);

  expect(session.localPort).toBe(16_302);
  await expect(engine.open(LOOPBACK)).rejects.toThrow(PortsExhaustedError);
});

test('MediaEngine uses a port again only after it has been drained', async () => {
  const ports = { first: 16_310, last: 16_311 };
  const engine = await startEngine({ ports, drainMs: 60_000 });
  const session = await engine.open(LOOPBACK);

  await session.close();

  await expect(engine.open(LOOPBACK)).rejects.toThrow(PortsExhaustedError);
  const intruder = createSocket('udp4');
  intruder.bind(session.localPort, '127.0.0.1');
  expect(await once(intruder, 'error')).toMatchObject([{ code: 'EADDRINUSE' }]);
  intruder.close();
});

test('MediaEngine has a port free again at the end of the drain', async () => {
  const ports = { first: 16_320, last: 16_321 };
  const engine = await startEngine({ ports });
  const first = await engine.open(LOOPBACK);
  await first.close();

  const second = await untilOpened(engine);

  expect(second.localPort).toBe(16_320);
});

test('MediaEngine tells calls that their worker died, and opens new ones on the next', async () => {
  const clock = new FakeClock();
  const workers: Worker[] = [];
  const engine = await startEngine({
    clock,
    startWorker: (settings) => {
      const worker = startMediaWorker(settings);
      workers.push(worker);
      return worker;
    },
  });
  const session = await engine.open(LOOPBACK);
  const lost = eventOf(session, 'media-lost');

  await workers[0]?.terminate();

  expect(await lost).toEqual({ kind: 'media-lost' });
  await session.close();
  expect(await session.stats()).toMatchObject({ packetsSent: 0 });
  await expect(engine.open(LOOPBACK)).rejects.toThrow(MediaEngineError);
  clock.advance(500);
  expect((await engine.open(LOOPBACK)).localPort % 2).toBe(0);
});

test('MediaEngine says with which priority and sockets its thread runs', async () => {
  const said: object[] = [];
  const note = (fields: object) => said.push(fields);
  const log = { ...silentLogger, info: note, warn: note };

  await startEngine({ log, isRealTime: true });

  expect(said).toEqual([
    {
      priority: expect.stringMatching(/^(real-time \(SCHED_FIFO|niceness -15|normal: )/),
      sockets: expect.objectContaining({ name: expect.stringMatching(/^(epoll|node:dgram)$/) }),
    },
  ]);
});

test('MediaEngine gives the last figures of a session that was closed', async () => {
  const phone = await openPhone();
  const session = await shared.open(LOOPBACK);
  session.setRemote(phone.agreed);
  await phone.untilReceived(3);

  await session.close();

  expect((await session.stats()).packetsSent).toBeGreaterThanOrEqual(3);
});

test('MediaEngine can be stopped twice, and then opens nothing', async () => {
  const engine = await startEngine();
  const session = await engine.open(LOOPBACK);

  await Promise.all([engine.stop(), engine.stop()]);
  await engine.stop();

  await session.close();
  await expect(engine.open(LOOPBACK)).rejects.toThrow('not started');
});

/** Asks until the port is free: freeing it takes the worker one turn of its loop. */
async function untilOpened(engine: MediaEngine): Promise<MediaSession> {
  for (;;) {
    const session = await engine.open(LOOPBACK).catch(() => undefined);
    if (session !== undefined) return session;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
