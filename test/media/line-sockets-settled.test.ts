/** What changes for nobody when a socket has settled with one far end, and is connected to it where the system can do that. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadLibc } from '../../src/media/linux/libc.ts';
import { LinuxSockets } from '../../src/media/linux/linux-sockets.ts';
import {
  converse,
  descriptors,
  farPorts,
  isLinux,
  MANY_PACKETS,
  openPeer,
  PORT,
  settled,
} from './settled-sockets.ts';
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

const CONNECTION_REFUSED = 111;

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

  test('takes nobody for the far end that it has just turned to', async () => {
    const [peer, stranger, next] = [await peerAt(), await peerAt('127.0.0.9'), await peerAt()];
    const { socket } = await listeningSocket(open, PORT);
    const taken: Datagram[] = [];
    socket.listen({
      onDatagram: (bytes, source) => {
        const text = Buffer.from(bytes).toString();
        taken.push({ text, size: bytes.length, source });
        if (text === 'turn') socket.send(Buffer.from('hello'), next.address());
      },
    });
    await converse(peer, socket, taken);
    taken.length = 0;

    stranger.send('turn', PORT, LOOPBACK);
    for (let packet = 0; packet < 3; packet += 1) peer.send('theirs', PORT, LOOPBACK);
    await until(() => taken.some(({ text }) => text === 'turn'));
    await sendTo(PORT, next, 'end');
    await until(() => taken.some(({ text }) => text === 'end'));

    const theirs = taken.filter(({ text }) => text === 'theirs');
    expect(theirs.length).toBeGreaterThan(0);
    expect(new Set(theirs.map(({ source }) => source.port))).toEqual(
      new Set([peer.address().port]),
    );
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

test.runIf(isLinux)(
  'LinuxSockets go on where the system connects nobody, and keep nothing open',
  async () => {
    const refused = { ...(await loadLibc()), connect: () => -1, errno: () => CONNECTION_REFUSED };
    const { socket, peer, taken } = await settled(() => LinuxSockets.load(refused));
    const opened = descriptors();

    await converse(peer, socket, taken);

    expect(farPorts()).toEqual([0]);
    expect(descriptors()).toBe(opened);
  },
);
