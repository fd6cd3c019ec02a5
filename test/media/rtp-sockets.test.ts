/** Contract of the media thread's sockets for both implementations: system calls and Node. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Source } from '../../src/rtp/source-lock.ts';
import {
  ADAPTERS,
  LOOPBACK,
  listeningSocket,
  listenTo,
  peerAt,
  sendTo,
  until,
} from './test-sockets.ts';

const PORT = 16_900;
const OTHER_PORT = 16_902;

describe.each(ADAPTERS)('%s', (_name, open) => {
  test('gives datagrams in order, with their true sources', async () => {
    const { taken } = await listeningSocket(open, PORT);
    const [peer, stranger] = [await peerAt(), await peerAt('127.0.0.9')];

    await sendTo(PORT, peer, 'one');
    await sendTo(PORT, stranger, 'two');
    await sendTo(PORT, peer, '');
    await sendTo(PORT, peer, 'four');
    await until(() => taken.length === 4);

    expect(taken.map(({ text }) => text)).toEqual(['one', 'two', '', 'four']);
    const addresses = taken.map(({ source: { address, port } }) => ({ address, port }));
    const [ours, other] = [peer.address(), stranger.address()];
    expect(addresses).toMatchObject(
      [ours, other, ours, ours].map(({ address, port }) => ({ address, port })),
    );
  });

  test('sends to the given addresses, one after the other', async () => {
    const { socket } = await listeningSocket(open, PORT);
    const [peer, other] = [await peerAt(), await peerAt('127.0.0.9')];
    const heard = [once(peer, 'message'), once(other, 'message')];

    socket.send(Buffer.from('to one'), peer.address());
    socket.send(Buffer.from('to the other'), other.address());

    const [[first, source], [second]] = (await Promise.all(heard)) as [[Buffer, Source], [Buffer]];
    expect([first.toString(), second.toString()]).toEqual(['to one', 'to the other']);
    expect(source).toMatchObject({ address: LOOPBACK, port: PORT });
  });

  test("has sent a copy: the bytes are the caller's again", async () => {
    const { socket } = await listeningSocket(open, PORT);
    const peer = await peerAt();
    const heard = once(peer, 'message');
    const bytes = Buffer.from('as it was');

    socket.send(bytes, peer.address());
    bytes.fill(0);

    const [datagram] = (await heard) as [Buffer];
    expect(datagram.toString()).toBe('as it was');
  });

  test('has sent what it was given before its close', async () => {
    const { socket } = await listeningSocket(open, PORT);
    const peer = await peerAt();
    const heard = once(peer, 'message');

    socket.send(Buffer.from('goodbye'), peer.address());
    socket.close();

    const [datagram] = (await heard) as [Buffer];
    expect(datagram.toString()).toBe('goodbye');
  });

  test.each([
    ['port 0', { address: LOOPBACK, port: 0 }],
    ['a name', { address: 'localhost', port: 4000 }],
    ['no address', { address: '', port: 4000 }],
    ['a number too large', { address: '127.0.0.256', port: 4000 }],
    ['the broadcast address', { address: '255.255.255.255', port: 4000 }],
    ['a port without a listener', { address: LOOPBACK, port: 16_999 }],
  ])('loses what is sent to %s, and nothing else', async (_what, target) => {
    const { socket, taken } = await listeningSocket(open, PORT);
    const peer = await peerAt();
    const heard = once(peer, 'message');

    for (let sent = 0; sent < 3; sent += 1) socket.send(Buffer.from('lost'), target);
    socket.send(Buffer.from('found'), peer.address());
    await sendTo(PORT, peer, 'here');
    await until(() => taken.length === 1);

    const [datagram] = (await heard) as [Buffer];
    expect(datagram.toString()).toBe('found');
    expect(taken[0]?.text).toBe('here');
  });

  test('loses what is longer than a datagram can be', async () => {
    const { socket } = await listeningSocket(open, PORT);
    const peer = await peerAt();
    const heard = once(peer, 'message');

    socket.send(new Uint8Array(70_000), peer.address());
    socket.send(Buffer.from('short'), peer.address());

    const [datagram] = (await heard) as [Buffer];
    expect(datagram.toString()).toBe('short');
  });

  test('takes the longest datagram, whole or its beginning, and the next one', async () => {
    const { taken } = await listeningSocket(open, PORT);
    const peer = await peerAt();

    await sendTo(PORT, peer, new Uint8Array(65_000).fill(97));
    await sendTo(PORT, peer, 'short');
    await until(() => taken.length === 2);

    expect(taken[0]?.size).toBeGreaterThanOrEqual(2048);
    expect(taken[0]?.text).toMatch(/^a+$/);
    expect(taken[1]?.text).toBe('short');
  });

  test('tells its listener what the system did not take, and of nothing else', async () => {
    const { socket } = await listeningSocket(open, PORT);
    const peer = await peerAt();
    const unsent: number[] = [];
    socket.listen({
      onDatagram: () => undefined,
      onUnsent: (datagram) => unsent.push(datagram.length),
    });
    const heard = once(peer, 'message');

    socket.send(new Uint8Array(1), { address: LOOPBACK, port: 0 });
    socket.send(new Uint8Array(2), { address: 'localhost', port: 4000 });
    socket.send(new Uint8Array(3), { address: '255.255.255.255', port: 4000 });
    socket.send(new Uint8Array(70_000), peer.address());
    socket.send(new Uint8Array(4), { address: LOOPBACK, port: 16_999 });
    socket.send(new Uint8Array(5), peer.address());
    await heard;
    await until(() => unsent.length >= 4);

    expect(unsent.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 70_000]);
  });

  test('takes the datagrams of a far end that was away for a while', async () => {
    const { socket, taken } = await listeningSocket(open, PORT);
    const away = await peerAt();
    const { port } = away.address();
    await new Promise<void>((resolve) => away.close(resolve));
    for (let packet = 0; packet < 3; packet += 1) {
      socket.send(Buffer.from('is anybody there'), { address: LOOPBACK, port });
      await sleep(2);
    }
    const back = await peerAt(LOOPBACK, port);
    const heard = once(back, 'message');

    socket.send(Buffer.from('again'), { address: LOOPBACK, port });
    await sendTo(PORT, back, 'here');
    await until(() => taken.length > 0);

    const [datagram] = (await heard) as [Buffer];
    expect([datagram.toString(), taken[0]?.text]).toEqual(['again', 'here']);
  });

  test('hears its far end at any of its own addresses where it is bound to all of them', async () => {
    const sockets = await open();
    onTestFinished(() => sockets.stop());
    const socket = await sockets.bind({ address: '0.0.0.0', port: PORT });
    const taken = listenTo(socket);
    const peer = await peerAt();

    peer.send('elsewhere', PORT, '127.0.0.5');
    await until(() => taken.length > 0);

    const { port } = peer.address();
    expect(taken[0]).toMatchObject({ text: 'elsewhere', source: { address: LOOPBACK, port } });
  });

  test('does not share its port', async () => {
    await listeningSocket(open, PORT);
    const thief = createSocket({ type: 'udp4', reusePort: process.platform === 'linux' });
    const error = once(thief, 'error');

    thief.bind(PORT, LOOPBACK);

    expect(await error).toMatchObject([{ code: 'EADDRINUSE' }]);
    thief.close();
  });

  test('drops packets that arrive before a listener is set', async () => {
    const { sockets } = await listeningSocket(open, PORT);
    const socket = await sockets.bind({ address: LOOPBACK, port: OTHER_PORT });
    const peer = await peerAt();

    await sendTo(OTHER_PORT, peer, 'early');
    await sleep(30);
    const taken = listenTo(socket);
    await sendTo(OTHER_PORT, peer, 'late');
    await until(() => taken.length > 0);

    expect(taken.map(({ text }) => text)).toEqual(['late']);
  });
});
