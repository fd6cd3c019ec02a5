/** Sockets of a media thread on Linux: the system's own calls, and one wait for all of them. */
import type { Source } from '../../../rtp/source-lock.ts';
import type { LineSocket, LineSockets, SocketsReport } from '../line-sockets.ts';
import { DatagramMemory } from './datagram-memory.ts';
import { type Libc, loadLibc } from './libc.ts';
import { PacketLoop } from './packet-loop.ts';
import { UdpSocket } from './udp-socket.ts';

export class LinuxSockets implements LineSockets {
  readonly report: SocketsReport = {
    name: 'epoll',
    reason: 'system calls by koffi',
    isFallback: false,
  };
  readonly #libc: Libc;
  readonly #incoming: DatagramMemory;
  readonly #outgoing: DatagramMemory;
  readonly #loop: PacketLoop;
  /** By descriptor. */
  readonly #open: (UdpSocket | undefined)[] = [];
  #isStopped = false;

  private constructor(libc: Libc) {
    this.#libc = libc;
    this.#incoming = new DatagramMemory(libc);
    this.#outgoing = new DatagramMemory(libc);
    this.#loop = new PacketLoop({ libc, read: (fd, nowMs) => this.#open[fd]?.read(nowMs) });
  }

  /** @throws {Error} where the system is another, koffi does not load, or the system refuses what the loop needs. */
  static async load(libc?: Libc): Promise<LinuxSockets> {
    return new LinuxSockets(libc ?? (await loadLibc()));
  }

  get clock(): LineSockets['clock'] {
    return this.#loop.clock;
  }

  async bind(place: Source): Promise<LineSocket> {
    const socket = new UdpSocket({
      ...{ libc: this.#libc, place, incoming: this.#incoming, outgoing: this.#outgoing },
      onClose: (fd) => {
        this.#open[fd] = undefined;
        this.#loop.remove(fd);
      },
    });
    this.#open[socket.fd] = socket;
    try {
      this.#loop.add(socket.fd);
    } catch (error) {
      socket.close();
      throw error;
    }
    return socket;
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const socket of this.#open) socket?.close();
    this.#loop.stop();
  }
}
