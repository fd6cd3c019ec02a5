/** RTP sockets by system calls on Linux: no callback, address object or string for each packet. */
import { isIPv4 } from 'node:net';
import type { Source } from '../../../rtp/source-lock.ts';
import type { DatagramListener, RtpSocket, RtpSockets, SocketsReport } from '../rtp-sockets.ts';
import { checked, type Libc, newMemory, PacketLoop, type ReadableSocket } from './epoll.ts';

/** Sockets of one thread, which sleeps in its `PacketLoop` while any of them is open. */
export class EpollSockets implements RtpSockets {
  readonly report: SocketsReport = { name: 'epoll', reason: 'system calls by koffi' };
  readonly #shared: SharedBySockets;
  #isStopped = false;

  /** @throws {Error} with the system's `code` when it refuses an epoll set. */
  constructor(libc: Libc) {
    this.#shared = {
      ...{ libc, loop: new PacketLoop(libc), open: new Set() },
      ...{ incoming: new PacketMemory(libc), outgoing: new PacketMemory(libc) },
    };
  }

  get clock(): RtpSockets['clock'] {
    return this.#shared.loop.clock;
  }

  async bind(place: Source): Promise<RtpSocket> {
    const socket = new UdpSocket(this.#shared, place);
    this.#shared.open.add(socket);
    return socket;
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const socket of this.#shared.open) socket.close();
    this.#shared.loop.stop();
  }
}

const IPV4 = 2;
const DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC = 2 | 0o4000 | 0o2000000;

/** One of each for a thread's sockets. */
interface SharedBySockets {
  readonly libc: Libc;
  readonly loop: PacketLoop;
  readonly open: Set<RtpSocket>;
  readonly incoming: PacketMemory;
  readonly outgoing: PacketMemory;
}

/** @see udp(7) */
class UdpSocket implements RtpSocket, ReadableSocket {
  readonly fd: number;
  readonly #shared: SharedBySockets;
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
  constructor(shared: SharedBySockets, { address, port }: Source) {
    const { libc, loop, outgoing } = shared;
    this.#shared = shared;
    if (!writeAddress({ address, port }, outgoing.address)) {
      throw Object.assign(new Error(`bind EINVAL ${address}:${port}`), { code: 'EINVAL' });
    }
    const fd = libc.socket(IPV4, DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC, 0);
    this.fd = checked(libc, 'socket', fd);
    try {
      checked(libc, 'bind', libc.bind(fd, outgoing.address, ADDRESS_BYTES));
      loop.add(this);
    } catch (error) {
      libc.close(fd);
      throw error;
    }
  }

  listen(listener: DatagramListener): void {
    if (!this.#isClosed) this.#listener = listener;
  }

  send(datagram: Uint8Array, target: Source): void {
    if (this.#isClosed) return;
    const { outgoing } = this.#shared;
    const hasTarget = target === this.#target || this.#aimAt(target);
    outgoing.address[0] = this.#targetPort;
    outgoing.address[1] = this.#targetHost;
    if (!hasTarget || !outgoing.send(this.fd, datagram)) this.#listener?.onUnsent?.(datagram);
  }

  /** Reads one datagram, if there is one, and delivers it. */
  read(nowMs: number): void {
    const { incoming } = this.#shared;
    const datagram = incoming.receive(this.fd);
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
    this.#shared.open.delete(this);
    this.#shared.loop.remove(this);
    this.#shared.libc.close(this.fd);
  }

  /** @returns false when nothing can be sent to the target. */
  #aimAt(target: Source): boolean {
    const { address } = this.#shared.outgoing;
    if (target.port === 0 || !writeAddress(target, address)) return false;
    this.#target = target;
    [this.#targetPort = 0, this.#targetHost = 0] = address;
    return true;
  }
}

/** A longer datagram is cut off when read, and not sent. G.711 at 20 ms has 172 bytes. */
const DATAGRAM_BYTES_MAX = 2048;

const ADDRESS_BYTES = 16;

/**
 * Memory for one datagram and its peer's address. A thread has one for each direction, since a listener may send while it
 * reads. The pointers are valid for as long as the fields hold the memory.
 */
class PacketMemory {
  readonly address = newMemory(ADDRESS_BYTES / 4);
  readonly #libc: Libc;
  readonly #bytes = new Uint8Array(newMemory(DATAGRAM_BYTES_MAX / 4).buffer);
  readonly #addressBytes = newMemory(1);
  readonly #at: Readonly<Record<'bytes' | 'address' | 'addressBytes', number>>;
  #view = this.#bytes.subarray(0, 0);

  constructor(libc: Libc) {
    this.#libc = libc;
    this.#at = {
      bytes: libc.addressOf(this.#bytes),
      address: libc.addressOf(this.address),
      addressBytes: libc.addressOf(this.#addressBytes),
    };
  }

  /** Reads one datagram and its sender's address. @returns the datagram, valid until the next call; undefined for none. */
  receive(fd: number): Uint8Array | undefined {
    const { bytes, address, addressBytes } = this.#at;
    this.#addressBytes[0] = ADDRESS_BYTES;
    const size = this.#libc.recvfrom(fd, bytes, DATAGRAM_BYTES_MAX, 0, address, addressBytes);
    if (size < 0) return undefined;
    // Most datagrams have the length of the one before.
    if (size !== this.#view.length) this.#view = this.#bytes.subarray(0, size);
    return this.#view;
  }

  /** Sends to `address`. @returns whether the system accepted the datagram. */
  send(fd: number, datagram: Uint8Array): boolean {
    const { bytes, address } = this.#at;
    const size = datagram.length;
    if (size > DATAGRAM_BYTES_MAX) return false;
    this.#bytes.set(datagram);
    return this.#libc.sendto(fd, bytes, size, 0, address, ADDRESS_BYTES) === size;
  }
}

/**
 * Writes an IPv4 address and port over the first two words of a `struct sockaddr_in`, whose other two stay 0.
 *
 *     16 bits family, in machine order | 16 bits port, high byte first | 32 bits address
 *
 * @returns false when it is not a numeric IPv4 address and a port.
 * @see ip(7)
 */
function writeAddress({ address, port }: Source, words: Int32Array<ArrayBuffer>): boolean {
  if (!isIPv4(address) || !Number.isInteger(port) || port < 0 || port > 65_535) return false;
  const numbers = address.split('.').map(Number);
  new Uint8Array(words.buffer).set([IPV4, 0, port >> 8, port & 0xff, ...numbers]);
  return true;
}

function readAddress(words: Int32Array<ArrayBuffer>): Source {
  const [, , high = 0, low = 0, ...rest] = new Uint8Array(words.buffer);
  return { address: rest.slice(0, 4).join('.'), port: (high << 8) | low };
}
