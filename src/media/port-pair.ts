/** The two UDP sockets of a line: RTP on an even port, RTCP one above. */
import { createSocket, type Socket } from 'node:dgram';
import type { Source } from '../rtp/source-lock.ts';

export type OnDatagram = (datagram: Uint8Array, source: Source) => void;

/** Unconnected, so that a stranger's packets are seen and counted, and a NAT's true port can be learnt. */
export class PortPair {
  readonly #rtp: Line;
  readonly #rtcp: Line;

  private constructor(rtp: Line, rtcp: Line) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
  }

  /**
   * Takes both ports; whatever comes is thrown away until `listen`.
   *
   * @param options.port even.
   * @throws {Error} with `code` EADDRINUSE when either port is taken, and the system's other errors.
   */
  static async bind(options: { address: string; port: number }): Promise<PortPair> {
    const { address, port } = options;
    const rtp = await Line.bind(address, port);
    try {
      return new PortPair(rtp, await Line.bind(address, port + 1));
    } catch (error) {
      rtp.close();
      throw error;
    }
  }

  listen(listeners: { readonly onRtp: OnDatagram; readonly onRtcp: OnDatagram }): void {
    this.#rtp.onDatagram = listeners.onRtp;
    this.#rtcp.onDatagram = listeners.onRtcp;
  }

  sendRtp(datagram: Uint8Array, target: Source): void {
    this.#rtp.send(datagram, target);
  }

  sendRtcp(datagram: Uint8Array, target: Source): void {
    this.#rtcp.send(datagram, target);
  }

  close(): void {
    this.#rtp.close();
    this.#rtcp.close();
  }
}

class Line {
  onDatagram: OnDatagram | undefined;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (datagram, source) => this.onDatagram?.(datagram, source));
    // An ICMP answer (the far end's port has closed) comes up as an error; the media time-out deals with it.
    socket.on('error', () => undefined);
  }

  static bind(address: string, port: number): Promise<Line> {
    const socket = createSocket({ type: 'udp4', lookup: lookUpNothing });
    return new Promise((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close();
        reject(error);
      });
      socket.bind({ address, port, exclusive: true }, () => {
        socket.removeAllListeners('error');
        resolve(new Line(socket));
      });
    });
  }

  send(datagram: Uint8Array, target: Source): void {
    // Nobody listens on port 0, and the system's answer would be an exception.
    if (target.port === 0) return;
    this.#socket.send(datagram, target.port, target.address);
  }

  close(): void {
    this.onDatagram = undefined;
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
