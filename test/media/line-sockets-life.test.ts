/** How the media thread's sockets come and go, and how the thread sleeps meanwhile, whoever makes them. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { startMediaWorker } from '../../src/media/engine/media-worker-handle.ts';
import { FakeClock } from '../support/fake-clock.ts';
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

  test('closes all that is open by its stop', async () => {
    const { sockets, taken } = await listeningSocket(open, PORT);
    const peer = await peerAt();

    sockets.stop();
    sockets.stop();
    await sendTo(PORT, peer, 'nobody');
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

test.each([
  false,
  true,
])('MediaEngine has the ports of a thread that died free again (portable: %s)', async (isPortable) => {
  const clock = new FakeClock();
  const workers: Worker[] = [];
  const engine = new MediaEngine({
    ...{ clock, log: silentLogger, ports: { first: 16_920, last: 16_921 }, workers: 1 },
    ...{ isRealTime: false, isPortable },
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

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

async function ping(worker: Worker): Promise<void> {
  const answer = once(worker, 'message');
  worker.postMessage('ping');
  await answer;
}
