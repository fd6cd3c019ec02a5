/** Sockets of a media thread on Linux: the system's own calls, and one wait for all of them. */
import type { Source } from '../../../rtp/source-lock.ts';
import type { DatagramListener, LineSocket, LineSockets, SocketsReport } from '../line-sockets.ts';
import { checked, type Libc, loadLibc, newMemory } from './libc.ts';
import { PacketLoop } from './packet-loop.ts';
import { ADDRESS_BYTES, readAddress, writeAddress } from './socket-address.ts';

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

const IPV4 = 2;
const DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC = 2 | 0o4000 | 0o2000000;

/** An address as the system has it: two words, and as bytes. */
const addressWords = newMemory(ADDRESS_BYTES / 4);
const addressBytes = new Uint8Array(addressWords.buffer);

interface UdpSocketOptions {
  readonly libc: Libc;
  readonly place: Source;
  readonly incoming: DatagramMemory;
  readonly outgoing: DatagramMemory;
  /** Called before the descriptor is closed. */
  readonly onClose: (fd: number) => void;
}

/** One UDP socket by the system's own calls: a packet makes no object, string or callback of Node's. @see udp(7) */
class UdpSocket implements LineSocket {
  readonly fd: number;
  readonly #options: UdpSocketOptions;
  #isClosed = false;
  #listener: DatagramListener | undefined;
  #target: Source | undefined;
  #targetPort = 0;
  #targetHost = 0;
  #source: Source = { address: '', port: 0 };
  #sourcePort = 0;
  #sourceHost = 0;

  /** @throws {Error} with the system's `code`. */
  constructor(options: UdpSocketOptions) {
    const { libc, place } = options;
    this.#options = options;
    if (!writeAddress(place, addressBytes)) {
      const message = `bind EINVAL ${place.address}:${place.port}`;
      throw Object.assign(new Error(message), { code: 'EINVAL' });
    }
    const fd = libc.socket(IPV4, DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC, 0);
    this.fd = checked(libc, 'socket', fd);
    libc.closeWithThread(this.fd, true);
    try {
      checked(libc, 'bind', libc.bind(this.fd, addressBytes, ADDRESS_BYTES));
    } catch (error) {
      this.#release();
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

  /** Reads one datagram, if there is one, and hands it over. The sender is nearly always the one before. */
  read(nowMs: number): void {
    const { incoming } = this.#options;
    const datagram = incoming.receiveFrom(this.fd);
    if (datagram === undefined || this.#listener === undefined) return;
    const [port = 0, host = 0] = incoming.address;
    if (port !== this.#sourcePort || host !== this.#sourceHost) this.#meet(port, host);
    this.#listener.onDatagram(datagram, this.#source, nowMs);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener = undefined;
    this.#options.onClose(this.fd);
    this.#release();
  }

  #meet(port: number, host: number): void {
    this.#sourcePort = port;
    this.#sourceHost = host;
    addressWords[0] = port;
    addressWords[1] = host;
    this.#source = readAddress(addressBytes);
  }

  /** Takes the target's address in the system's form: it hardly ever changes. @returns false when nothing can be sent there. */
  #aimAt(target: Source): boolean {
    if (target.port === 0 || !writeAddress(target, addressBytes)) return false;
    this.#target = target;
    this.#targetPort = addressWords[0] ?? 0;
    this.#targetHost = addressWords[1] ?? 0;
    return true;
  }

  #release(): void {
    const { libc } = this.#options;
    libc.closeWithThread(this.fd, false);
    libc.close(this.fd);
  }
}

/** A longer datagram is cut off when read, and not sent. Telephone audio has 172 bytes. */
const DATAGRAM_BYTES_MAX = 2048;

/** A thread has two: one for what it reads and one for what it sends, since a listener may send while it reads. */
class DatagramMemory {
  /** Family and port, then host: the first two words of `struct sockaddr_in`. */
  readonly address: Int32Array<ArrayBuffer> = newMemory(ADDRESS_BYTES / 4);
  readonly #libc: Libc;
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

  /**
   * Reads one datagram and its sender's address.
   *
   * @returns the datagram, valid until the next call; undefined where none was there.
   */
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

  /** Sends to `address`. @returns whether the system took the datagram. */
  sendBy(fd: number, datagram: Uint8Array): boolean {
    const size = datagram.length;
    if (size > DATAGRAM_BYTES_MAX) return false;
    this.#bytes.set(datagram);
    return this.#libc.sendto(fd, this.#bytesAt, size, 0, this.#addressAt, ADDRESS_BYTES) === size;
  }
}
