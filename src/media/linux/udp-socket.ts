/** One UDP socket by the system's own calls: no object, string or callback of Node's for a packet. */
import type { Source } from '../../rtp/source-lock.ts';
import type { DatagramListener, LineSocket } from '../line-sockets.ts';
import type { Reader } from './inbox.ts';
import { type Libc, newMemory } from './libc.ts';
import type { Outbox } from './outbox.ts';
import { ADDRESS_BYTES, readAddress, writeAddress } from './socket-address.ts';
import { UdpDescriptor } from './udp-descriptor.ts';

/** Two that have exchanged so many packets in a row, a second of sound, will go on. */
const SETTLED_PACKETS = 50;

/** What strangers had sent before the descriptor was connected has been read when so many more have come. */
const ALONE_PACKETS = 2 * SETTLED_PACKETS;

/** An address in hand: as the system has it, and as numbers. */
const addressWords = newMemory(ADDRESS_BYTES / 4);
const addressBytes = new Uint8Array(addressWords.buffer);

interface UdpSocketOptions {
  readonly libc: Libc;
  readonly place: Source;
  readonly outbox: Outbox;
  /** Has what comes to a descriptor read, and handed to the socket. @throws {Error} with the system's `code`. */
  readonly watch: (fd: number, socket: UdpSocket) => void;
  /** Called before a descriptor is closed. */
  readonly unwatch: (fd: number) => void;
}

/**
 * Once it has settled with one far end, its descriptor is connected: the system then looks for the way there once, and not
 * for each packet. A second descriptor on the same port takes what strangers send, so that they are seen all the same,
 * and a NAT's new port can be learnt; then the first one is nobody's again, until it has settled anew.
 */
export class UdpSocket implements LineSocket, Reader {
  peerFd = -1;
  readonly #options: UdpSocketOptions;
  readonly #outbox: Outbox;
  readonly #fd: number;
  readonly #own: UdpDescriptor;
  #strangers: UdpDescriptor | undefined;
  #isClosed = false;
  #target: Source | undefined;
  #targetPort = 0;
  #targetHost = 0;
  #listener: DatagramListener | undefined;
  #source: Source = { address: '', port: 0 };
  #sourcePort = 0;
  #sourceHost = 0;
  /** Datagrams in a row from the target, counted up to `ALONE_PACKETS`; strangers do not count once it is connected. */
  #row = 0;

  /** @throws {Error} with the system's `code`. */
  constructor(options: UdpSocketOptions) {
    const { libc, place } = options;
    this.#options = options;
    this.#outbox = options.outbox;
    if (!writeAddress(place, addressBytes)) {
      const message = `bind EINVAL ${place.address}:${place.port}`;
      throw Object.assign(new Error(message), { code: 'EINVAL' });
    }
    this.#own = new UdpDescriptor(libc, { address: addressBytes });
    this.#fd = this.#own.fd;
    this.#watch(this.#own);
  }

  listen(listener: DatagramListener): void {
    if (this.#isClosed) return;
    this.#disconnect();
    this.#listener = listener;
  }

  send(datagram: Uint8Array, target: Source): void {
    if (this.#isClosed || (target !== this.#target && !this.#aimAt(target))) return;
    const isConnected = this.#strangers !== undefined;
    this.#outbox.put(this.#fd, datagram, isConnected ? 0 : this.#targetPort, this.#targetHost);
  }

  prefetch(): number {
    return this.#sourcePort + (this.#listener?.prefetchDatagram?.() ?? 0);
  }

  /** The sender is nearly always the one before, and is then known again without a string. */
  take(datagram: Uint8Array, port: number, host: number, nowMs: number): void {
    // One that was read before another in its batch had us turn to a new far end is nobody's any more.
    const isStale = port === 0 && this.peerFd < 0;
    if (this.#listener === undefined || isStale) return;
    const fromPort = port === 0 ? this.#targetPort : port;
    const fromHost = port === 0 ? this.#targetHost : host;
    if (fromPort !== this.#sourcePort || fromHost !== this.#sourceHost) {
      this.#meet(fromPort, fromHost);
    } else if (this.#row < ALONE_PACKETS) this.#countRow();
    this.#listener.onDatagram(datagram, this.#source, nowMs);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener = undefined;
    // What was sent before the close leaves, and the descriptor's number may soon be another one's.
    this.#outbox.flush();
    this.#release(this.#own);
    if (this.#strangers !== undefined) this.#release(this.#strangers);
  }

  #meet(port: number, host: number): void {
    this.#sourcePort = port;
    this.#sourceHost = host;
    addressWords[0] = port;
    addressWords[1] = host;
    this.#source = readAddress(addressBytes);
    if (this.#strangers === undefined) this.#row = 0;
  }

  #countRow(): void {
    const isTarget = this.#sourcePort === this.#targetPort && this.#sourceHost === this.#targetHost;
    this.#row = isTarget ? this.#row + 1 : 0;
    if (this.#row === SETTLED_PACKETS) this.#connect();
    if (this.#row === ALONE_PACKETS && this.#strangers !== undefined) this.peerFd = this.#fd;
  }

  /** Takes the target's address in the system's form: it hardly ever changes. @returns false when nothing can be sent there. */
  #aimAt(target: Source): boolean {
    if (target.port === this.#target?.port && target.address === this.#target.address) {
      this.#target = target;
      return true;
    }
    // Nobody listens on port 0.
    if (target.port === 0 || !writeAddress(target, addressBytes)) return false;
    const [port = 0, host = 0] = addressWords;
    if (port !== this.#targetPort || host !== this.#targetHost) {
      this.#disconnect();
      this.#targetPort = port;
      this.#targetHost = host;
    }
    this.#target = target;
    return true;
  }

  #connect(): void {
    try {
      this.#strangers = this.#openBeside();
      addressWords[0] = this.#targetPort;
      addressWords[1] = this.#targetHost;
      this.#own.connect(addressBytes);
    } catch (error) {
      // Where the system does not let it, the socket goes on as it was: each packet costs a little more.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      this.#disconnect();
      this.#row = SETTLED_PACKETS;
    }
  }

  /** @throws {Error} with the system's `code`. */
  #openBeside(): UdpDescriptor {
    const { libc, place } = this.#options;
    writeAddress(place, addressBytes);
    this.#own.share(true);
    try {
      const beside = new UdpDescriptor(libc, { address: addressBytes, isBeside: true });
      this.#watch(beside);
      beside.share(false);
      return beside;
    } finally {
      this.#own.share(false);
    }
  }

  /** What is left unread of strangers is lost, as at any change of the far end. */
  #disconnect(): void {
    this.#row = 0;
    this.peerFd = -1;
    if (this.#strangers === undefined) return;
    // What was put down for the one that it is connected to has no other address.
    this.#outbox.flush();
    this.#own.disconnect();
    this.#release(this.#strangers);
    this.#strangers = undefined;
  }

  #watch(descriptor: UdpDescriptor): void {
    try {
      this.#options.watch(descriptor.fd, this);
    } catch (error) {
      this.#release(descriptor);
      throw error;
    }
  }

  #release(descriptor: UdpDescriptor): void {
    this.#options.unwatch(descriptor.fd);
    descriptor.close();
  }
}
