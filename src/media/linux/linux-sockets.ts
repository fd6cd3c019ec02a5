/** Sockets of a media thread on Linux: the system's own calls, all of them waited for at once. */
import type { Source } from '../../rtp/source-lock.ts';
import type { LineSocket, LineSockets, SocketsReport } from '../line-sockets.ts';
import { Inbox } from './inbox.ts';
import { type Libc, loadLibc } from './libc.ts';
import { Outbox } from './outbox.ts';
import { PacketLoop } from './packet-loop.ts';
import { UdpSocket } from './udp-socket.ts';

export class LinuxSockets implements LineSockets {
  readonly report: SocketsReport = {
    name: 'epoll',
    reason: 'system calls by koffi',
    isFallback: false,
  };
  readonly #libc: Libc;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #loop: PacketLoop;
  readonly #open = new Map<number, UdpSocket>();
  /** Of the newest socket; a number is never used again, so that an event of a closed socket reaches no other. */
  #id = 0;
  #isStopped = false;

  private constructor(libc: Libc) {
    this.#libc = libc;
    this.#inbox = new Inbox(libc);
    this.#outbox = new Outbox(libc);
    this.#loop = new PacketLoop({
      libc,
      read: (id) => {
        // One that was closed by a packet before it in the batch is there no more.
        const socket = this.#open.get(id);
        if (socket !== undefined) this.#inbox.read(socket);
      },
      deliver: (nowMs) => this.#inbox.deliver(nowMs),
      send: () => this.#outbox.flush(),
    });
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
      ...{ libc: this.#libc, outbox: this.#outbox, place },
      onClose: ({ fd }) => {
        this.#open.delete(id);
        this.#loop.remove(fd);
      },
    });
    this.#open.set(id, socket);
    try {
      this.#loop.add(socket.fd, id);
    } catch (error) {
      socket.close();
      throw error;
    }
    return socket;
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const socket of this.#open.values()) socket.close();
    this.#loop.stop();
  }
}
