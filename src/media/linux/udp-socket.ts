/** One UDP socket by the system's own calls: no object, string or callback of Node's for a packet. */
import type { Source } from '../../rtp/source-lock.ts';
import type { DatagramListener, LineSocket } from '../line-sockets.ts';
import type { Reader } from './inbox.ts';
import { checked, type Libc, newMemory } from './libc.ts';
import type { Outbox } from './outbox.ts';
import { ADDRESS_BYTES, readAddress, writeAddress } from './socket-address.ts';

const IPV4 = 2;
const DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC = 2 | 0o4000 | 0o2000000;

/** An address in hand: as the system has it, and as numbers. */
const addressWords = newMemory(ADDRESS_BYTES / 4);
const addressBytes = new Uint8Array(addressWords.buffer);

export class UdpSocket implements LineSocket, Reader {
  readonly fd: number;
  readonly #outbox: Outbox;
  #isClosed = false;
  #target: Source | undefined;
  #targetPort = 0;
  #targetHost = 0;
  #listener: DatagramListener | undefined;
  #source: Source = { address: '', port: 0 };
  #sourcePort = 0;
  #sourceHost = 0;
  readonly #libc: Libc;
  readonly #onClose: (socket: UdpSocket) => void;

  /** @throws {Error} with the system's `code`. */
  constructor(options: {
    readonly libc: Libc;
    readonly place: Source;
    readonly outbox: Outbox;
    /** Called before the descriptor is closed. */
    readonly onClose: (socket: UdpSocket) => void;
  }) {
    const { libc, place } = options;
    this.#libc = libc;
    this.#outbox = options.outbox;
    this.#onClose = options.onClose;
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
    if (this.#isClosed || (target !== this.#target && !this.#aimAt(target))) return;
    this.#outbox.put(this.fd, datagram, this.#targetPort, this.#targetHost);
  }

  prefetch(): number {
    return this.#sourcePort + (this.#listener?.prefetchDatagram?.() ?? 0);
  }

  /** The sender is nearly always the one before, and is then known again without a string. */
  take(datagram: Uint8Array, port: number, host: number, nowMs: number): void {
    if (this.#listener === undefined) return;
    if (port !== this.#sourcePort || host !== this.#sourceHost) {
      this.#sourcePort = port;
      this.#sourceHost = host;
      addressWords[0] = port;
      addressWords[1] = host;
      this.#source = readAddress(addressBytes);
    }
    this.#listener.onDatagram(datagram, this.#source, nowMs);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener = undefined;
    // What was sent before the close leaves, and the descriptor's number may soon be another one's.
    this.#outbox.flush();
    this.#onClose(this);
    this.#release();
  }

  /** Takes the target's address in the system's form: it hardly ever changes. @returns false when nothing can be sent there. */
  #aimAt(target: Source): boolean {
    // Nobody listens on port 0.
    if (target.port === 0 || !writeAddress(target, addressBytes)) return false;
    this.#target = target;
    this.#targetPort = addressWords[0] ?? 0;
    this.#targetHost = addressWords[1] ?? 0;
    return true;
  }

  #release(): void {
    this.#libc.closeWithThread(this.fd, false);
    this.#libc.close(this.fd);
  }
}
