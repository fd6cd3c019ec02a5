/** Opening and closing the media thread's sockets, and its sleep meanwhile, for both socket implementations. */
import { on, once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { LevelMeter } from '../../src/media/dsp/level-meter.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { startMediaWorker } from '../../src/media/engine/media-worker-handle.ts';
import { loadLibc, newMemory } from '../../src/media/sockets/epoll/epoll.ts';
import { ReceiveRing, SpeechRing } from '../../src/media/sound-rings.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import {
  ADAPTERS,
  LOOPBACK,
  listeningSocket,
  listenTo,
  peerAt,
  sendTo,
  until,
  untilBound,
} from './test-sockets.ts';

const PORT = 16_910;
const OTHER_PORT = 16_912;

describe.each(ADAPTERS)('%s', (_name, open) => {
  test('says that a port is taken', async () => {
    const { sockets } = await listeningSocket(open, PORT);

    const second = sockets.bind({ address: LOOPBACK, port: PORT });

    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test.each(['203.0.113.1', 'no address'])('cannot be bound to "%s"', async (address) => {
    const { sockets } = await listeningSocket(open, PORT);

    const bound = sockets.bind({ address, port: OTHER_PORT });

    await expect(bound).rejects.toMatchObject({ code: expect.stringMatching(/^E[A-Z]+$/) });
  });

  test('delivers nothing after its close, and frees the port at once', async () => {
    const { sockets, socket, taken } = await listeningSocket(open, PORT);
    const peer = await peerAt();
    await sendTo(PORT, peer, 'unread');

    socket.close();
    socket.close();
    socket.send(Buffer.from('closed'), peer.address());
    await sleep(30);
    const again = listenTo(await untilBound(sockets, PORT));
    await sendTo(PORT, peer, 'new');
    await until(() => again.length > 0);

    expect(taken).toEqual([]);
    expect(again.map(({ text }) => text)).toEqual(['new']);
  });

  test('delivers nothing to a socket that a packet before it in the batch closed', async () => {
    const { sockets, socket } = await listeningSocket(open, PORT);
    const other = await sockets.bind({ address: LOOPBACK, port: OTHER_PORT });
    const peer = await peerAt();
    const order: string[] = [];
    const closeBoth = (name: string) => ({
      onDatagram: () => {
        order.push(name);
        socket.close();
        other.close();
      },
    });
    socket.listen(closeBoth('one'));
    other.listen(closeBoth('other'));

    for (const port of [PORT, OTHER_PORT, PORT, OTHER_PORT]) await sendTo(port, peer, 'x');
    await until(() => order.length > 0);
    await sleep(30);

    expect(order).toHaveLength(1);
  });

  test("keeps a datagram's bytes while its listener sends and closes other sockets", async () => {
    const { sockets, socket } = await listeningSocket(open, PORT);
    const other = await sockets.bind({ address: LOOPBACK, port: OTHER_PORT });
    const peer = await peerAt();
    const texts: string[] = [];
    socket.listen({
      onDatagram: (bytes, source) => {
        socket.send(Buffer.alloc(bytes.length, 'x'), source);
        other.send(Buffer.alloc(2048, 'y'), source);
        other.close();
        texts.push(Buffer.from(bytes).toString());
      },
    });

    await sendTo(PORT, peer, 'as it came');
    await until(() => texts.length > 0);

    expect(texts).toEqual(['as it came']);
  });

  test('sends and reads the same bytes after garbage collections', async () => {
    const { socket, taken } = await listeningSocket(open, PORT);
    const peer = await peerAt();
    const heard = once(peer, 'message');

    const litter = Array.from({ length: 10_000 }, (_, size) => new Int32Array(size % 32));
    collectGarbage();
    expect(litter).toHaveLength(10_000);
    socket.send(Buffer.from('out'), peer.address());
    await sendTo(PORT, peer, 'in');
    await until(() => taken.length > 0);

    const [datagram] = (await heard) as [Buffer];
    const { port } = peer.address();
    expect(datagram.toString()).toBe('out');
    expect(taken).toMatchObject([{ text: 'in', source: { address: LOOPBACK, port } }]);
  });

  test('closes all that is open by its stop', async () => {
    const { sockets, taken } = await listeningSocket(open, PORT);
    const peer = await peerAt();

    sockets.stop();
    sockets.stop();
    await sendTo(PORT, peer, 'closed');
    await sleep(30);

    expect(taken).toEqual([]);
  });

  test.runIf(process.platform === 'linux')('leaves no descriptor open', async () => {
    const sockets = await open();
    await (await sockets.bind({ address: LOOPBACK, port: PORT })).close();
    await sleep(1);
    const before = descriptors();

    for (let opened = 0; opened < 1000; opened += 1) {
      const socket = await untilBound(sockets, PORT);
      await sockets.bind({ address: LOOPBACK, port: PORT }).catch(() => undefined);
      socket.close();
    }
    await sleep(1);

    expect(descriptors()).toBe(before);
    sockets.stop();
  });

  test('sleeps while nothing comes', async () => {
    await listeningSocket(open, PORT);
    const before = process.cpuUsage();

    await sleep(500);

    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(250);
  });

  test('lets messages of other threads in at once', async () => {
    await listeningSocket(open, PORT);
    const echo = new Worker(
      `const { parentPort } = require('node:worker_threads');
      parentPort.on('message', (message) => parentPort.postMessage(message));`,
      { eval: true },
    );
    onTestFinished(async () => {
      await echo.terminate();
    });
    await ping(echo);
    const startedAtMs = performance.now();

    for (let sent = 0; sent < 300; sent += 1) await ping(echo);

    // A thread that looked for them every 10 ms would take 3 s.
    expect(performance.now() - startedAtMs).toBeLessThan(2000);
  });
});

test('MediaEngine has the ports of a thread that died free again', async () => {
  const clock = new FakeClock();
  const workers: Worker[] = [];
  const engine = new MediaEngine({
    ...{ clock, log: silentLogger, ports: { first: 16_920, last: 16_921 }, workers: 1 },
    isRealTime: false,
    startWorker: (settings) => {
      const worker = startMediaWorker(settings);
      workers.push(worker);
      return worker;
    },
  });
  onTestFinished(() => engine.stop());
  await engine.start();
  const session = await engine.open({ signallingAddress: LOOPBACK });
  const lost = new Promise((resolve) => session.onEvent(resolve));

  await workers[0]?.terminate();
  await lost;
  clock.advance(500);

  expect((await engine.open({ signallingAddress: LOOPBACK })).localPort).toBe(16_920);
});

test.runIf(process.platform === 'linux')(
  'loadLibc gives memory an address that no garbage collection moves',
  async () => {
    const libc = await loadLibc();
    const memories = [1, 4, 16, 512].map(newMemory);
    const before = memories.map(libc.addressOf);

    collectGarbage();

    expect(memories.map(libc.addressOf)).toEqual(before);
  },
);

test.runIf(process.platform === 'linux')(
  'a media thread that dies leaves no descriptor open',
  async () => {
    const worker = () =>
      startMediaWorker({
        ...{ drainMs: 1000, isRealTime: false },
        speech: new SpeechRing().buffer,
      });
    const dieWithSessionOpen = async (died: Worker) => {
      const opened = untilMessage(died, 'opened');
      died.postMessage([
        {
          ...{ kind: 'open', sessionId: 1, address: LOOPBACK, port: PORT },
          ...{ trusted: { signallingAddress: LOOPBACK } },
          ...{ heard: new ReceiveRing().buffer, meter: new LevelMeter().buffer },
        },
      ]);
      await opened;
      await died.terminate();
    };
    await dieWithSessionOpen(worker());
    const before = descriptors();

    await dieWithSessionOpen(worker());

    expect(descriptors()).toBe(before);
  },
);

async function untilMessage(worker: Worker, kind: string): Promise<void> {
  for await (const [message] of on(worker, 'message')) if (message.kind === kind) return;
}

/** Runs a full collection; `gc` exists only in contexts made after the flag is set. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

async function ping(worker: Worker): Promise<void> {
  const answer = once(worker, 'message');
  worker.postMessage('ping');
  await answer;
}
