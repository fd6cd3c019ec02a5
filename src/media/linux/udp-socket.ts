/** One UDP socket by the system's own calls: no object, string or callback for a packet. */
import type { Source } from '../../rtp/source-lock.ts';
import type { LineSocket, OnDatagram } from '../line-sockets.ts';
import { checked, type Libc } from './libc.ts';
import { ADDRESS_BYTES, readAddress, writeAddress } from './socket-address.ts';

const IPV4 = 2;
const DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC = 2 | 0o4000 | 0o2000000;

/** What is longer is cut off; no telephone audio comes near it, and a report that does is of no use. */
const DATAGRAM_BYTES_MAX = 2048;

/** The datagram in hand, and who sent it. All sockets of a thread share them: a call fills them, and its listener reads them. */
const received = new Uint8Array(new ArrayBuffer(DATAGRAM_BYTES_MAX));
const sender = new Uint8Array(new ArrayBuffer(ADDRESS_BYTES));
const senderWords = new Int32Array(sender.buffer);
const senderBytes = new Int32Array(new ArrayBuffer(4));

/** By length: nearly all datagrams are of one, so that a view of each length is made once. */
const views: (Uint8Array | undefined)[] = new Array(DATAGRAM_BYTES_MAX + 1).fill(undefined);

export class UdpSocket implements LineSocket {
  readonly fd: number;
  readonly #libc: Libc;
  readonly #onClose: (socket: UdpSocket) => void;
  readonly #to = new Uint8Array(new ArrayBuffer(ADDRESS_BYTES));
  #target: Source | undefined;
  #source: Source = { address: '', port: 0 };
  /** The words of the source's address as they came, to know it again without a string. */
  #sourcePort = 0;
  #sourceAddress = 0;
  #onDatagram: OnDatagram | undefined;
  #isClosed = false;

  /** @throws {Error} with the system's `code`. */
  constructor(options: {
    readonly libc: Libc;
    readonly place: Source;
    /** Called before the descriptor is closed. */
    readonly onClose: (socket: UdpSocket) => void;
  }) {
    const { libc, place } = options;
    this.#libc = libc;
    this.#onClose = options.onClose;
    if (!writeAddress(place, this.#to)) {
      const message = `bind EINVAL ${place.address}:${place.port}`;
      throw Object.assign(new Error(message), { code: 'EINVAL' });
    }
    const fd = libc.socket(IPV4, DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC, 0);
    this.fd = checked(libc, 'socket', fd);
    libc.closeWithThread(this.fd, true);
    const outcome = libc.bind(this.fd, this.#to, ADDRESS_BYTES);
    try {
      checked(libc, 'bind', outcome);
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  listen(onDatagram: OnDatagram): void {
    if (!this.#isClosed) this.#onDatagram = onDatagram;
  }

  send(datagram: Uint8Array, target: Source): void {
    if (this.#isClosed || !this.#aim(target)) return;
    // An error means that this packet is lost; the next one is due in 20 ms.
    this.#libc.sendto(this.fd, datagram, datagram.length, 0, this.#to, ADDRESS_BYTES);
  }

  /** Takes one datagram, if there is one. */
  receive(nowMs: number): void {
    senderBytes[0] = ADDRESS_BYTES;
    const size = this.#libc.recvfrom(
      ...([this.fd, received, DATAGRAM_BYTES_MAX, 0, sender, senderBytes] as const),
    );
    // Less than nothing: none is there any more, or an error that told of one sent earlier is taken by this.
    if (size < 0 || this.#onDatagram === undefined) return;
    const [port, address] = [senderWords[0] ?? 0, senderWords[1] ?? 0];
    if (port !== this.#sourcePort || address !== this.#sourceAddress) {
      this.#sourcePort = port;
      this.#sourceAddress = address;
      this.#source = readAddress(sender);
    }
    this.#onDatagram(viewOf(size), this.#source, nowMs);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onDatagram = undefined;
    this.#onClose(this);
    this.#release();
  }

  /** Keeps the target's address in the system's form: it hardly ever changes. */
  #aim(target: Source): boolean {
    if (target !== this.#target) {
      this.#target = undefined;
      // Nobody listens on port 0.
      if (target.port === 0 || !writeAddress(target, this.#to)) return false;
      this.#target = target;
    }
    return true;
  }

  #release(): void {
    this.#libc.closeWithThread(this.fd, false);
    this.#libc.close(this.fd);
  }
}

function viewOf(size: number): Uint8Array {
  const known = views[size];
  if (known !== undefined) return known;
  const view = received.subarray(0, size);
  views[size] = view;
  return view;
}
