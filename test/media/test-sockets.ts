/** Media threads' sockets for tests: every kind there is, and peers that talk to them. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { loadLibc } from '../../src/media/sockets/epoll/epoll.ts';
import { EpollSockets } from '../../src/media/sockets/epoll/epoll-sockets.ts';
import { NodeSockets } from '../../src/media/sockets/open-sockets.ts';
import type { RtpSocket, RtpSockets } from '../../src/media/sockets/rtp-sockets.ts';
import type { Source } from '../../src/rtp/source-lock.ts';

export const LOOPBACK = '127.0.0.1';

export interface Datagram {
  readonly text: string;
  readonly size: number;
  readonly source: Source;
}

type Open = () => Promise<RtpSockets>;

/** By name; what the machine does not have is left out. */
export const ADAPTERS: readonly (readonly [string, Open])[] = [
  ['NodeSockets', async () => new NodeSockets('a test')],
  ...(process.platform === 'linux'
    ? [['EpollSockets', async () => new EpollSockets(await loadLibc())] as const]
    : []),
];

/** A socket of that kind on that port, and what it takes; gone with the test. */
export async function listeningSocket(open: Open, port: number) {
  const sockets = await open();
  onTestFinished(() => sockets.stop());
  const socket = await sockets.bind({ address: LOOPBACK, port });
  return { sockets, socket, taken: listenTo(socket) };
}

export function listenTo(socket: RtpSocket): Datagram[] {
  const taken: Datagram[] = [];
  socket.listen({
    onDatagram: (bytes, source) => {
      taken.push({ text: Buffer.from(bytes).toString(), size: bytes.length, source });
    },
  });
  return taken;
}

/** A far end; closed with the test, if not before. */
export async function peerAt(address = LOOPBACK, port = 0): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(port, address);
  await once(socket, 'listening');
  let isClosed = false;
  socket.once('close', () => {
    isClosed = true;
  });
  onTestFinished(() => {
    if (!isClosed) socket.close();
  });
  return socket;
}

/** Resolves when it lies in the other's buffer: loopback hands it over at once. */
export async function sendTo(port: number, socket: Socket, bytes: string | Uint8Array) {
  await new Promise((resolve) => socket.send(bytes, port, LOOPBACK, resolve));
}

/** Takes the port again: Node lets go of one a turn after its close. */
export async function untilBound(sockets: RtpSockets, port: number): Promise<RtpSocket> {
  for (;;) {
    const socket = await sockets.bind({ address: LOOPBACK, port }).catch(() => undefined);
    if (socket !== undefined) return socket;
    await sleep(0);
  }
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(1);
}

/** How long it took to ring. */
export function ringAfter({ clock }: RtpSockets, delayMs: number): Promise<number> {
  const askedAtMs = clock.nowMs();
  return new Promise((resolve) => {
    clock.after(delayMs, () => resolve(clock.nowMs() - askedAtMs));
  });
}
