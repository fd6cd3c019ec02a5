/** Sockets of a media thread by Node alone: for systems other than Linux, and where koffi does not load. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { systemClock } from '../../lib/clock.ts';
import type { Source } from '../../rtp/source-lock.ts';
import type { Alarm } from '../worker/alarm.ts';
import { steadyClock } from '../worker/steady-clock.ts';
import type { DatagramListener, LineSocket, LineSockets, SocketsReport } from './line-sockets.ts';

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
