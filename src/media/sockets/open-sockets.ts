/** Chooses a media thread's sockets: the system's own where they can be had, Node's elsewhere. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { systemClock } from '../../lib/clock.ts';
import type { Source } from '../../rtp/source-lock.ts';
import { type Alarm, steadyClock } from '../worker/pacer.ts';
import type { DatagramListener, LineSocket, LineSockets, SocketsReport } from './line-sockets.ts';

/**
 * Opens the best sockets that carry a packet there and back; which, and why, is in their report.
 *
 * @param options.alarm wakes the thread where it sleeps on Node's sockets.
 * @param options.isPortable keeps to Node's own.
 * @param options.loadBest rejects where there are none but Node's.
 */
export async function openSockets(options: {
  readonly alarm: Alarm;
  readonly isPortable: boolean;
  readonly loadBest?: () => Promise<LineSockets>;
}): Promise<LineSockets> {
  const { alarm, isPortable, loadBest = loadLinuxSockets } = options;
  if (isPortable) return new NodeSockets({ alarm, reason: 'asked for' });
  try {
    return await tried(await loadBest());
  } catch (error) {
    const state = error instanceof Error ? error.message : String(error);
    return new NodeSockets({ alarm, reason: `no system calls: ${state}` });
  }
}

/** @throws {Error} when no packet goes there and back; the sockets are then stopped. */
async function tried(sockets: LineSockets): Promise<LineSockets> {
  try {
    await trySockets(sockets);
    return sockets;
  } catch (error) {
    sockets.stop();
    throw error;
  }
}

/** Loaded where it is wanted: koffi's program exists for some systems only. */
async function loadLinuxSockets(): Promise<LineSockets> {
  const { LinuxSockets } = await import('./linux/linux-sockets.ts');
  return LinuxSockets.load();
}

const LOOPBACK = '127.0.0.1';

/** Loopback needs less than a millisecond; the rest is for a machine that is busy with its start. */
const ANSWER_MS_MAX = 2000;

/**
 * Sends a packet to a socket of Node's on loopback and waits for the answer.
 *
 * @throws {Error} when the packet or its answer gets lost, or no port can be taken.
 */
async function trySockets(sockets: LineSockets): Promise<void> {
  const echo = createSocket('udp4');
  try {
    echo.bind(0, LOOPBACK);
    await once(echo, 'listening');
    const socket = await sockets.bind({ address: LOOPBACK, port: 0 });
    await exchange(socket, echo).finally(() => socket.close());
  } finally {
    echo.close();
  }
}

function exchange(socket: LineSocket, echo: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const limit = setTimeout(
    () => reject(new Error(`a trial packet had no answer within ${ANSWER_MS_MAX} ms`)),
    ANSWER_MS_MAX,
  );
  echo.on('message', (packet, { address, port }) => echo.send(packet, port, address));
  echo.on('error', reject);
  socket.listen({
    onDatagram: () => resolve(),
    onUnsent: () => reject(new Error('the system did not send a trial packet')),
  });
  socket.send(Uint8Array.of(0), echo.address());
  return promise.finally(() => clearTimeout(limit));
}

/** Sockets of a media thread by Node alone: for systems other than Linux, and where koffi does not load. */
export class NodeSockets implements LineSockets {
  readonly report: SocketsReport;
  readonly clock: LineSockets['clock'];
  readonly #open = new Set<NodeSocket>();

  /** @param options.reason why there are no better ones. */
  constructor(options: { readonly alarm: Alarm; readonly reason: string }) {
    this.report = { name: 'node:dgram', reason: options.reason, isFallback: true };
    this.clock = steadyClock(options.alarm);
  }

  async bind({ address, port }: Source): Promise<LineSocket> {
    const socket = createSocket({ type: 'udp4', lookup: lookUpNothing });
    await new Promise<void>((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close();
        reject(error);
      });
      socket.bind({ address, port, exclusive: true }, resolve);
    });
    socket.removeAllListeners('error');
    const bound = new NodeSocket(socket, () => this.#open.delete(bound));
    this.#open.add(bound);
    return bound;
  }

  stop(): void {
    for (const socket of this.#open) socket.close();
  }
}

class NodeSocket implements LineSocket {
  readonly #socket: Socket;
  readonly #onClose: () => void;
  #listener: DatagramListener | undefined;
  #isClosed = false;

  constructor(socket: Socket, onClose: () => void) {
    this.#socket = socket;
    this.#onClose = onClose;
    socket.on('message', (datagram, source) =>
      this.#listener?.onDatagram(datagram, source, systemClock.nowMs()),
    );
    // An ICMP answer (the far end's port has closed) comes up as an error; the media time-out deals with it.
    socket.on('error', () => undefined);
  }

  listen(listener: DatagramListener): void {
    if (!this.#isClosed) this.#listener = listener;
  }

  send(datagram: Uint8Array, target: Source): void {
    if (this.#isClosed) return;
    // The system's answer to port 0 would be an exception.
    if (target.port === 0 || !isIPv4(target.address)) {
      this.#listener?.onUnsent?.(datagram);
      return;
    }
    // A copy, since the socket keeps the bytes for as long as the system has no room for them.
    const copy = Uint8Array.from(datagram);
    this.#socket.send(copy, target.port, target.address, (error) => {
      if (error !== null) this.#listener?.onUnsent?.(copy);
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener = undefined;
    this.#onClose();
    this.#socket.close();
  }
}

/** All addresses are numbers already; the usual way would ask a thread of the pool about each packet. */
function lookUpNothing(
  address: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void {
  callback(null, address, 4);
}
