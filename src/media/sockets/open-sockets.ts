/** Chooses a media thread's sockets: epoll where a trial packet passes, `node:dgram` elsewhere. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { systemClock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { Source } from '../../rtp/source-lock.ts';
import { loadLibc } from './epoll/epoll.ts';
import { EpollSockets } from './epoll/epoll-sockets.ts';
import type { DatagramListener, RtpSocket, RtpSockets, SocketsReport } from './rtp-sockets.ts';

/**
 * Opens epoll sockets if they carry a packet there and back, else sockets of `node:dgram`; `report` says which, and why.
 *
 * @param loadBest loads the sockets to try; rejects where there are none.
 */
export async function openSockets(loadBest = loadEpoll): Promise<RtpSockets> {
  let sockets: RtpSockets | undefined;
  try {
    sockets = await loadBest();
    await trySockets(sockets);
    return sockets;
  } catch (error) {
    sockets?.stop();
    return new NodeSockets(`no system calls: ${messageOf(error)}`);
  }
}

async function loadEpoll(): Promise<RtpSockets> {
  return new EpollSockets(await loadLibc());
}

const LOOPBACK = '127.0.0.1';

/** Time limit for the trial packet. Loopback needs less than a millisecond; the rest is for a machine busy with its start. */
const ANSWER_MS_MAX = 2000;

/**
 * Exchanges a packet with a `node:dgram` socket on loopback: a seccomp profile may refuse a call only when it is made.
 *
 * @throws {Error} when the packet or its answer is lost, or no port can be bound.
 */
async function trySockets(sockets: RtpSockets): Promise<void> {
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

function exchange(socket: RtpSocket, echo: Socket): Promise<void> {
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

/** RTP sockets by `node:dgram`: for systems other than Linux, and where koffi does not load. Timers are exact to about 1 ms. */
export class NodeSockets implements RtpSockets {
  readonly report: SocketsReport;
  readonly clock = systemClock;
  readonly #open = new Set<NodeSocket>();

  /** @param reason why epoll is not used. */
  constructor(reason: string) {
    this.report = { name: 'node:dgram', reason };
  }

  async bind({ address, port }: Source): Promise<RtpSocket> {
    const socket = createSocket({ type: 'udp4', lookup: lookUpNothing });
    try {
      // Listening may begin within `bind`, since the lookup is synchronous.
      const listening = once(socket, 'listening');
      socket.bind({ address, port, exclusive: true });
      await listening;
    } catch (error) {
      socket.close();
      throw error;
    }
    const bound = new NodeSocket(socket, () => this.#open.delete(bound));
    this.#open.add(bound);
    return bound;
  }

  stop(): void {
    for (const socket of this.#open) socket.close();
  }
}

class NodeSocket implements RtpSocket {
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
    // An ICMP answer (the far end's port is closed) is an error here; the media time-out deals with it.
    socket.on('error', () => undefined);
  }

  listen(listener: DatagramListener): void {
    if (!this.#isClosed) this.#listener = listener;
  }

  send(datagram: Uint8Array, target: Source): void {
    if (this.#isClosed) return;
    // Node throws for port 0, and would resolve a name.
    if (target.port === 0 || !isIPv4(target.address)) {
      this.#listener?.onUnsent?.(datagram);
      return;
    }
    // A copy, since the socket keeps the bytes while the system has no room for them.
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

/** Targets are numeric. Node's own lookup answers a tick later, after which a closed socket no longer sends. */
function lookUpNothing(
  address: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void {
  callback(null, address, 4);
}
