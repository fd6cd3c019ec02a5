/** Memory for one datagram and its address, at a fixed place that system calls take as a number. */
import { type Libc, newMemory } from './libc.ts';
import { ADDRESS_BYTES } from './socket-address.ts';

/** A longer datagram is cut off when read, and not sent. Telephone audio has 172 bytes. */
export const DATAGRAM_BYTES_MAX = 2048;

/** A thread has two: one for what it reads and one for what it sends, since a listener may send while it reads. */
export class DatagramMemory {
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
