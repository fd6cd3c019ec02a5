/** Sockets of a media thread on Linux: the system's own calls, all of them waited for at once. */
import type { Source } from '../../rtp/source-lock.ts';
import type { LineSocket, LineSockets, SocketsReport } from '../line-sockets.ts';
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
  readonly #loop: PacketLoop;
  readonly #open = new Set<UdpSocket>();
  /** Of the newest socket; a number is never used again, so that an event of a closed socket reaches no other. */
  #id = 0;
  #isStopped = false;

  private constructor(libc: Libc) {
    this.#libc = libc;
    this.#loop = new PacketLoop(libc);
  }

  /** @throws {Error} where the system is another, or koffi does not load. */
  static async load(): Promise<LinuxSockets> {
    return new LinuxSockets(await loadLibc());
  }

  get clock(): LineSockets['clock'] {
    return this.#loop.clock;
  }

  async bind(place: Source): Promise<LineSocket> {
    this.#id += 1;
    const id = this.#id;
    const socket = new UdpSocket({
      libc: this.#libc,
      place,
      onClose: () => {
        this.#open.delete(socket);
        this.#loop.remove(socket.fd, id);
      },
    });
    this.#open.add(socket);
    this.#loop.add(socket.fd, id, (nowMs) => socket.receive(nowMs));
    return socket;
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const socket of this.#open) socket.close();
    this.#loop.stop();
  }
}
