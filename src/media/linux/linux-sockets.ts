/** Sockets of a media thread on Linux: the system's own calls, all of them waited for at once. */
import type { Source } from '../../rtp/source-lock.ts';
import type { LineSocket, LineSockets, SocketsReport } from '../line-sockets.ts';
import { Inbox } from './inbox.ts';
import { type Libc, loadLibc } from './libc.ts';
import { Outbox } from './outbox.ts';
import { PacketLoop } from './packet-loop.ts';
import { UdpSocket } from './udp-socket.ts';

const MANY = 'for many sockets at once';
const ONE = 'for one socket at a time (the system gives no context for more: io_setup)';

export class LinuxSockets implements LineSockets {
  readonly report: SocketsReport;
  readonly #libc: Libc;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #loop: PacketLoop;
  /** By descriptor. All datagrams of a batch are read before the first is handed over, so that none of them is another's. */
  readonly #open: (UdpSocket | undefined)[] = [];
  #isStopped = false;

  private constructor(libc: Libc) {
    this.#libc = libc;
    this.#inbox = new Inbox(libc, (fd) => this.#open[fd]);
    this.#outbox = new Outbox(libc);
    const reason = `system calls by koffi, ${this.#outbox.isBatching ? MANY : ONE}`;
    this.report = { name: 'epoll', reason, isFallback: false };
    this.#loop = new PacketLoop({
      libc,
      read: (fd) => this.#inbox.read(fd),
      deliver: (nowMs) => this.#inbox.deliver(nowMs),
      send: () => this.#outbox.flush(),
    });
  }

  /** @throws {Error} where the system is another, or koffi does not load. */
  static async load(libc?: Libc): Promise<LinuxSockets> {
    return new LinuxSockets(libc ?? (await loadLibc()));
  }

  get clock(): LineSockets['clock'] {
    return this.#loop.clock;
  }

  async bind(place: Source): Promise<LineSocket> {
    return new UdpSocket({
      ...{ libc: this.#libc, outbox: this.#outbox, place },
      watch: (fd, socket) => {
        this.#open[fd] = socket;
        this.#loop.add(fd);
      },
      unwatch: (fd) => {
        this.#open[fd] = undefined;
        this.#loop.remove(fd);
      },
    });
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const socket of this.#open) socket?.close();
    this.#loop.stop();
    this.#inbox.close();
    this.#outbox.close();
  }
}
