/** The two UDP sockets of a line: RTP on an even port, RTCP one above. */
import type { Source } from '../../rtp/source-lock.ts';
import type { DatagramListener, LineSocket, LineSockets } from '../sockets/line-sockets.ts';

export class PortPair {
  readonly #rtp: LineSocket;
  readonly #rtcp: LineSocket;

  private constructor(rtp: LineSocket, rtcp: LineSocket) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
  }

  /**
   * Takes both ports; whatever comes is thrown away until `listen`.
   *
   * @param place its port is even.
   * @throws {Error} with `code` EADDRINUSE when either port is taken, and the system's other errors.
   */
  static async bind(sockets: LineSockets, place: Source): Promise<PortPair> {
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
