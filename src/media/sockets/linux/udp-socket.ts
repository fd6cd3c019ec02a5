/** One UDP socket by the system's own calls: a packet makes no object, string or callback of Node's. @see udp(7) */
import type { Source } from '../../../rtp/source-lock.ts';
import type { DatagramListener, LineSocket } from '../line-sockets.ts';
import type { DatagramMemory } from './datagram-memory.ts';
import { checked, type Libc, newMemory } from './libc.ts';
import { ADDRESS_BYTES, readAddress, writeAddress } from './socket-address.ts';

const IPV4 = 2;
const DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC = 2 | 0o4000 | 0o2000000;

/** An address as the system has it: two words, and as bytes. */
const addressWords = newMemory(ADDRESS_BYTES / 4);
const addressBytes = new Uint8Array(addressWords.buffer);

export interface UdpSocketOptions {
  readonly libc: Libc;
  readonly place: Source;
  readonly incoming: DatagramMemory;
  readonly outgoing: DatagramMemory;
  /** Called before the descriptor is closed. */
  readonly onClose: (fd: number) => void;
}

export class UdpSocket implements LineSocket {
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
