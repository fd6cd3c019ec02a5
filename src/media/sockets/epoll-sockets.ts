/** RTP sockets by system calls on Linux: no callback, address object or string for each packet. */
import type { Source } from '../../rtp/source-lock.ts';
import { checked, type Libc, loadLibc, newMemory } from './libc.ts';
import { PacketLoop } from './packet-loop.ts';
import type { DatagramListener, RtpSocket, RtpSockets, SocketsReport } from './rtp-sockets.ts';

/** Sockets of one thread, which sleeps in its `PacketLoop` while any of them is open. */
export class EpollSockets implements RtpSockets {
  readonly report: SocketsReport = {
    name: 'epoll',
    reason: 'system calls by koffi',
    isFallback: false,
  };
  readonly #libc: Libc;
  readonly #incoming: PacketMemory;
  readonly #outgoing: PacketMemory;
  readonly #loop: PacketLoop;
  /** By descriptor. */
  readonly #open: (UdpSocket | undefined)[] = [];
  #isStopped = false;

  private constructor(libc: Libc) {
    this.#libc = libc;
    this.#incoming = new PacketMemory(libc);
    this.#outgoing = new PacketMemory(libc);
    this.#loop = new PacketLoop({ libc, read: (fd, nowMs) => this.#open[fd]?.read(nowMs) });
  }

  /** @throws {Error} on other systems, where koffi does not load, and where epoll is refused. */
  static async load(libc?: Libc): Promise<EpollSockets> {
    return new EpollSockets(libc ?? (await loadLibc()));
  }

  get clock(): RtpSockets['clock'] {
    return this.#loop.clock;
  }

  async bind(place: Source): Promise<RtpSocket> {
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

const IPV4 = 2;
const DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC = 2 | 0o4000 | 0o2000000;

interface UdpSocketOptions {
  readonly libc: Libc;
  readonly place: Source;
  readonly incoming: PacketMemory;
  readonly outgoing: PacketMemory;
  /** Called before the descriptor is closed. */
  readonly onClose: (fd: number) => void;
}

/** @see udp(7) */
class UdpSocket implements RtpSocket {
  readonly fd: number;
  readonly #options: UdpSocketOptions;
  #isClosed = false;
  #listener: DatagramListener | undefined;
  // The last target and the last source, each with its two address words: both hardly ever change.
  #target: Source | undefined;
  #targetPort = 0;
  #targetHost = 0;
  #source: Source = { address: '', port: 0 };
  #sourcePort = 0;
  #sourceHost = 0;

  /** @throws {Error} with the system's `code`. */
  constructor(options: UdpSocketOptions) {
    const { libc, place, outgoing } = options;
    this.#options = options;
    if (!writeAddress(place, outgoing.address)) {
      const message = `bind EINVAL ${place.address}:${place.port}`;
      throw Object.assign(new Error(message), { code: 'EINVAL' });
    }
    const fd = libc.socket(IPV4, DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC, 0);
    this.fd = checked(libc, 'socket', fd);
    try {
      checked(libc, 'bind', libc.bind(this.fd, outgoing.address, ADDRESS_BYTES));
    } catch (error) {
      libc.close(this.fd);
      throw error;
    }
  }

  listen(listener: DatagramListener): void {
    if (!this.#isClosed) this.#listener = listener;
  }

  send(datagram: Uint8Array, target: Source): void {
    if (this.#isClosed) return;
    const { outgoing } = this.#options;
    const hasTarget = target === this.#target || this.#aimAt(target);
    outgoing.address[0] = this.#targetPort;
    outgoing.address[1] = this.#targetHost;
    if (!hasTarget || !outgoing.sendBy(this.fd, datagram)) this.#listener?.onUnsent?.(datagram);
  }

  /** Reads one datagram, if there is one, and delivers it. */
  read(nowMs: number): void {
    const { incoming } = this.#options;
    const datagram = incoming.receiveFrom(this.fd);
    if (datagram === undefined || this.#listener === undefined) return;
    const [port = 0, host = 0] = incoming.address;
    if (port !== this.#sourcePort || host !== this.#sourceHost) {
      this.#sourcePort = port;
      this.#sourceHost = host;
      this.#source = readAddress(incoming.address);
    }
    this.#listener.onDatagram(datagram, this.#source, nowMs);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener = undefined;
    this.#options.onClose(this.fd);
    this.#options.libc.close(this.fd);
  }

  /** @returns false when nothing can be sent to the target. */
  #aimAt(target: Source): boolean {
    const { address } = this.#options.outgoing;
    if (target.port === 0 || !writeAddress(target, address)) return false;
    this.#target = target;
    [this.#targetPort = 0, this.#targetHost = 0] = address;
    return true;
  }
}

/** A longer datagram is cut off when read, and not sent. G.711 at 20 ms has 172 bytes. */
const DATAGRAM_BYTES_MAX = 2048;

const ADDRESS_BYTES = 16;

/** One datagram and its peer's address. A thread has one for each direction, since a listener may send while it reads. */
class PacketMemory {
  readonly address = newMemory(ADDRESS_BYTES / 4);
  readonly #libc: Libc;
  // The pointers are valid for as long as these fields hold the memory.
  readonly #bytes = new Uint8Array(newMemory(DATAGRAM_BYTES_MAX / 4).buffer);
  readonly #addressBytes = newMemory(1);
  readonly #bytesAt: number;
  readonly #addressAt: number;
  readonly #addressBytesAt: number;
  #view = this.#bytes.subarray(0, 0);

  constructor(libc: Libc) {
    this.#libc = libc;
    this.#bytesAt = libc.addressOf(this.#bytes);
    this.#addressAt = libc.addressOf(this.address);
    this.#addressBytesAt = libc.addressOf(this.#addressBytes);
  }

  /** Reads one datagram and its sender's address. @returns the datagram, valid until the next call; undefined for none. */
  receiveFrom(fd: number): Uint8Array | undefined {
    this.#addressBytes[0] = ADDRESS_BYTES;
    const size = this.#libc.recvfrom(
      fd,
      this.#bytesAt,
      DATAGRAM_BYTES_MAX,
      0,
      this.#addressAt,
      this.#addressBytesAt,
    );
    if (size < 0) return undefined;
    // Most datagrams have the length of the one before.
    if (size !== this.#view.length) this.#view = this.#bytes.subarray(0, size);
    return this.#view;
  }

  /** Sends to `address`. @returns whether the system accepted the datagram. */
  sendBy(fd: number, datagram: Uint8Array): boolean {
    const size = datagram.length;
    if (size > DATAGRAM_BYTES_MAX) return false;
    this.#bytes.set(datagram);
    return this.#libc.sendto(fd, this.#bytesAt, size, 0, this.#addressAt, ADDRESS_BYTES) === size;
  }
}

const DOTTED = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/**
 * Writes an IPv4 address and port over the first two words of a `struct sockaddr_in`, whose other two stay 0.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |   family, in machine order    |       port, high byte first   |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |                            address                            |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *
 * @returns false when it is not a numeric IPv4 address and a port.
 * @see ip(7)
 */
function writeAddress({ address, port }: Source, words: Int32Array<ArrayBuffer>): boolean {
  const parts = DOTTED.exec(address)?.slice(1).map(Number) ?? [];
  const isAddress = parts.length === 4 && parts.every((part) => part <= 255);
  if (!isAddress || !Number.isInteger(port) || port < 0 || port > 65_535) return false;
  new Uint8Array(words.buffer).set([IPV4, 0, port >> 8, port & 0xff, ...parts]);
  return true;
}

function readAddress(words: Int32Array<ArrayBuffer>): Source {
  const [, , high = 0, low = 0, ...rest] = new Uint8Array(words.buffer);
  return { address: rest.slice(0, 4).join('.'), port: (high << 8) | low };
}
