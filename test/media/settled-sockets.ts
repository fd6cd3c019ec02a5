/** Sockets that have settled with a far end, for tests, and what the system knows of them. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { LineSocket } from '../../src/media/line-sockets.ts';
import {
  type ADAPTERS,
  type Datagram,
  LOOPBACK,
  listeningSocket,
  peerAt,
  sendTo,
  until,
} from './test-sockets.ts';

export const PORT = 16_950;

export const isLinux: boolean = process.platform === 'linux';

/** More than it takes to settle. */
export const MANY_PACKETS = 120;

/** Has both exchange packets, as in a call, until each has all of them. */
export async function converse(peer: Socket, socket: LineSocket, taken: Datagram[]): Promise<void> {
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
export async function openPeer(port: number): Promise<Socket> {
  const peer = createSocket('udp4');
  peer.bind(port, LOOPBACK);
  await once(peer, 'listening');
  return peer;
}

/** A socket that has settled with a far end. */
export async function settled(open: (typeof ADAPTERS)[number][1]) {
  const peer = await peerAt();
  const listening = await listeningSocket(open, PORT);
  await converse(peer, listening.socket, listening.taken);
  listening.taken.length = 0;
  return { peer, ...listening };
}

/** The far ends of the descriptors on the port, as the system has them; 0 for a descriptor that is connected to nobody. */
export function farPorts(): number[] {
  const lines = readFileSync('/proc/net/udp', 'utf8').split('\n');
  const port = PORT.toString(16).toUpperCase();
  const far = lines.flatMap((line) => {
    const [, local = '', remote = ''] = line.trim().split(/\s+/);
    return local.endsWith(`:${port}`) ? [Number.parseInt(remote.split(':')[1] ?? '', 16)] : [];
  });
  return far.sort((one, other) => one - other);
}

export const descriptors = () => readdirSync('/proc/self/fd').length;
