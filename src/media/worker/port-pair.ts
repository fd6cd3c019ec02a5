/** Ports of sessions on a media worker: pairs of bound sockets, and the draining of closed ones. */
import type { Clock } from '../../lib/clock.ts';
import type { Source } from '../../rtp/source-lock.ts';
import type { DatagramListener, RtpSocket, RtpSockets } from '../sockets/rtp-sockets.ts';

/** Both UDP sockets of a session: RTP on an even port, RTCP one above. */
export class PortPair {
  readonly #rtp: RtpSocket;
  readonly #rtcp: RtpSocket;

  private constructor(rtp: RtpSocket, rtcp: RtpSocket) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
  }

  /**
   * Binds both ports; packets are dropped until `listen`.
   *
   * @param place its port is even.
   * @throws {Error} with `code` EADDRINUSE when either port is taken, and the system's other errors.
   */
  static async bind(sockets: RtpSockets, place: Source): Promise<PortPair> {
    const { address, port } = place;
    const rtp = await sockets.bind(place);
    try {
      return new PortPair(rtp, await sockets.bind({ address, port: port + 1 }));
    } catch (error) {
      rtp.close();
      throw error;
    }
  }

  listen(listeners: { readonly rtp: DatagramListener; readonly rtcp: DatagramListener }): void {
    this.#rtp.listen(listeners.rtp);
    this.#rtcp.listen(listeners.rtcp);
  }

  sendRtp(datagram: Uint8Array, target: Source): void {
    this.#rtp.send(datagram, target);
  }

  sendRtcp(datagram: Uint8Array, target: Source): void {
    this.#rtcp.send(datagram, target);
  }

  /** Safe to call twice. */
  close(): void {
    this.#rtp.close();
    this.#rtcp.close();
  }
}

/** Time without packets after which a draining port may be used early. */
const QUIET_MS = 1000;

interface Draining {
  readonly ports: PortPair;
  cancel: () => void;
  /** Time of closing or of the last packet. */
  heardAtMs: number;
}

export class DrainingPorts {
  readonly #clock: Clock;
  readonly #drainMs: number;
  readonly #onFree: (sessionId: number) => void;
  readonly #draining = new Map<number, Draining>();

  constructor(options: {
    readonly clock: Clock;
    readonly drainMs: number;
    /** Called when the ports of a session are closed. */
    readonly onFree: (sessionId: number) => void;
  }) {
    this.#clock = options.clock;
    this.#drainMs = options.drainMs;
    this.#onFree = options.onFree;
  }

  /**
   * Drops all packets from now on.
   *
   * @returns starts the drain time of the session with the given number.
   */
  empty(ports: PortPair): (sessionId: number) => void {
    const clock = this.#clock;
    const draining: Draining = { ports, heardAtMs: clock.nowMs(), cancel: () => undefined };
    const noting = {
      onDatagram: () => {
        draining.heardAtMs = clock.nowMs();
      },
    };
    ports.listen({ rtp: noting, rtcp: noting });
    return (sessionId) => {
      this.#draining.set(sessionId, draining);
      draining.cancel = clock.after(this.#drainMs, () => this.#free(sessionId));
    };
  }

  /** Closes a session's ports early unless packets arrive. @returns whether they are closed. */
  reclaim(sessionId: number): boolean {
    const draining = this.#draining.get(sessionId);
    if (draining === undefined) return true;
    if (this.#clock.nowMs() - draining.heardAtMs < QUIET_MS) return false;
    this.#free(sessionId);
    return true;
  }

  #free(sessionId: number): void {
    const draining = this.#draining.get(sessionId);
    this.#draining.delete(sessionId);
    draining?.cancel();
    draining?.ports.close();
    this.#onFree(sessionId);
  }
}
