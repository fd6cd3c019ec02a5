/** What changes for nobody when a socket has settled with one far end, and is connected to it where the system can do that. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LineSocket } from '../../src/media/line-sockets.ts';
import {
  ADAPTERS,
  type Datagram,
  LOOPBACK,
  listeningSocket,
  listenTo,
  peerAt,
  sendTo,
  until,
  untilBound,
} from './test-sockets.ts';

const PORT = 16_950;
const isLinux = process.platform === 'linux';

/** More than it takes to settle. */
const MANY_PACKETS = 120;

/** Has both exchange packets, as in a call, until each has all of them. */
async function converse(peer: Socket, socket: LineSocket, taken: Datagram[]): Promise<void> {
  const target = peer.address();
  let heard = 0;
  const count = () => {
    heard += 1;
  };
  peer.on('message', count);
  for (let packet = 1; packet <= MANY_PACKETS; packet += 1) {
    const came = taken.length + 1;
    socket.send(Buffer.from('ours'), target);
    await sendTo(PORT, peer, 'theirs');
    await until(() => taken.length >= came && heard === packet);
  }
  peer.off('message', count);
}

/** Somebody whom the test closes. */
async function openPeer(port: number): Promise<Socket> {
  const peer = createSocket('udp4');
  peer.bind(port, LOOPBACK);
  await once(peer, 'listening');
  return peer;
}

/** A socket that has settled with a far end. */
async function settled(open: (typeof ADAPTERS)[number][1]) {
  const peer = await peerAt();
  const listening = await listeningSocket(open, PORT);
  await converse(peer, listening.socket, listening.taken);
  listening.taken.length = 0;
  return { peer, ...listening };
}

/** The far ends of the descriptors on the port, as the system has them; 0 for a descriptor that is connected to nobody. */
function farPorts(): number[] {
  const lines = readFileSync('/proc/net/udp', 'utf8').split('\n');
  const port = PORT.toString(16).toUpperCase();
  const far = lines.flatMap((line) => {
    const [, local = '', remote = ''] = line.trim().split(/\s+/);
    return local.endsWith(`:${port}`) ? [Number.parseInt(remote.split(':')[1] ?? '', 16)] : [];
  });
  return far.sort((one, other) => one - other);
}

const descriptors = () => readdirSync('/proc/self/fd').length;

describe.each(ADAPTERS)('%s', (name, open) => {
  const isConnecting = name.startsWith('LinuxSockets');

  test('goes on with its far end', async () => {
    const { peer, socket, taken } = await settled(open);
    const heard = once(peer, 'message');

    socket.send(Buffer.from('still here'), peer.address());
    await sendTo(PORT, peer, 'here too');
    await until(() => taken.length > 0);

    const [datagram] = (await heard) as [Buffer];
    expect(datagram.toString()).toBe('still here');
    expect(taken[0]).toMatchObject({ text: 'here too', source: { port: peer.address().port } });
    if (isConnecting) expect(farPorts()).toEqual([0, peer.address().port]);
  });

  test("takes a stranger's datagrams as well, with their true source", async () => {
    const { peer, taken } = await settled(open);
    const stranger = await peerAt('127.0.0.9');

    await sendTo(PORT, stranger, 'strange');
    await until(() => taken.length === 1);
    await sendTo(PORT, peer, 'known');
    await until(() => taken.length === 2);

    const sources = taken.map(({ text, source: { address, port } }) => ({ text, address, port }));
    expect(sources).toEqual([
      { text: 'strange', address: '127.0.0.9', port: stranger.address().port },
      { text: 'known', address: LOOPBACK, port: peer.address().port },
    ]);
  });

  test('follows the far end to another port, and settles there', async () => {
    const { socket, taken } = await settled(open);
    const moved = await peerAt();

    await converse(moved, socket, taken);

    expect(taken.map(({ source }) => source.port)).toEqual(
      Array.from({ length: MANY_PACKETS }, () => moved.address().port),
    );
    if (isConnecting) expect(farPorts()).toEqual([0, moved.address().port]);
  });

  test('sends to the two that it is told in turns', async () => {
    const { peer, socket } = await settled(open);
    const other = await peerAt('127.0.0.9');
    const heard = [once(peer, 'message'), once(other, 'message')];

    socket.send(Buffer.from('to the far end'), peer.address());
    socket.send(Buffer.from('to the other'), other.address());

    const datagrams = (await Promise.all(heard)) as [Buffer][];
    expect(datagrams.map(([datagram]) => datagram.toString())).toEqual([
      'to the far end',
      'to the other',
    ]);
  });

  test('finds a far end again that was not there for a while', async () => {
    const { socket, taken } = await listeningSocket(open, PORT);
    const peer = await openPeer(0);
    const { port } = peer.address();
    await converse(peer, socket, taken);
    peer.close();
    for (let packet = 0; packet < 3; packet += 1) {
      socket.send(Buffer.from('is anybody there'), { address: LOOPBACK, port });
      await sleep(2);
    }
    const back = await openPeer(port);
    const heard = once(back, 'message');

    for (let packet = 0; packet < 2; packet += 1) {
      socket.send(Buffer.from('again'), { address: LOOPBACK, port });
      await sleep(2);
    }

    const [datagram] = (await heard) as [Buffer];
    expect(datagram.toString()).toBe('again');
    back.close();
  });

  test('hears its far end at any of its own addresses where it is bound to all of them', async () => {
    const sockets = await open();
    onTestFinished(() => sockets.stop());
    const socket = await sockets.bind({ address: '0.0.0.0', port: PORT });
    const taken = listenTo(socket);
    const peer = await peerAt();
    await converse(peer, socket, taken);

    peer.send('elsewhere', PORT, '127.0.0.5');
    await until(() => taken.length > MANY_PACKETS);

    expect(taken.at(-1)).toMatchObject({
      text: 'elsewhere',
      source: { address: LOOPBACK, port: peer.address().port },
    });
  });

  test('shares its port with nobody', async () => {
    await settled(open);
    const thief = createSocket({ type: 'udp4', reusePort: isLinux });
    const error = once(thief, 'error');

    thief.bind(PORT, LOOPBACK);

    expect(await error).toMatchObject([{ code: 'EADDRINUSE' }]);
    thief.close();
  });

  test('gives whoever listens next the datagrams of everybody', async () => {
    const { peer, socket } = await settled(open);
    const stranger = await peerAt();

    const taken = listenTo(socket);
    await sendTo(PORT, stranger, 'one');
    await sendTo(PORT, peer, 'other');
    await until(() => taken.length === 2);

    expect(taken.map(({ text }) => text)).toEqual(['one', 'other']);
    if (isConnecting) expect(farPorts()).toEqual([0]);
  });

  test('frees its port and all descriptors by its close', async () => {
    const { peer, sockets, socket } = await settled(open);
    const opened = descriptors();

    socket.close();
    await sleep(5);
    const left = descriptors();
    const again = listenTo(await untilBound(sockets, PORT));
    await sendTo(PORT, peer, 'new');
    await until(() => again.length > 0);

    expect(again.map(({ text }) => text)).toEqual(['new']);
    if (isLinux) expect(opened - left).toBe(isConnecting ? 2 : 1);
  });
});
