/** A bound UDP descriptor of the system, and what a socket asks of it besides datagrams. @see udp(7), socket(7) */
import { checked, type Libc, newMemory } from './libc.ts';
import { ADDRESS_BYTES } from './socket-address.ts';

const IPV4 = 2;
const DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC = 2 | 0o4000 | 0o2000000;

const SOCKET_LEVEL = 1;
const REUSE_PORT = 15;

const number = newMemory(1);

/** Of the family AF_UNSPEC: connected to nobody. */
const nobody = newMemory(ADDRESS_BYTES / 4);

/** An address as `writeAddress` writes it. */
type Address = Uint8Array<ArrayBuffer>;

export class UdpDescriptor {
  readonly fd: number;
  readonly #libc: Libc;

  /**
   * @param options.isBeside whether another descriptor, which is shared, has the port already.
   * @throws {Error} with the system's `code`.
   */
  constructor(
    libc: Libc,
    { address, isBeside = false }: { readonly address: Address; readonly isBeside?: boolean },
  ) {
    this.#libc = libc;
    const fd = libc.socket(IPV4, DATAGRAM_NON_BLOCKING_CLOSE_ON_EXEC, 0);
    this.fd = checked(libc, 'socket', fd);
    libc.closeWithThread(this.fd, true);
    try {
      if (isBeside) this.share(true);
      checked(libc, 'bind', libc.bind(this.fd, address, ADDRESS_BYTES));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Lets another descriptor of this user have the port as well, or no further one. */
  share(isShared: boolean): void {
    number[0] = isShared ? 1 : 0;
    const { fd } = this;
    const done = this.#libc.setOption(fd, SOCKET_LEVEL, REUSE_PORT, number, number.byteLength);
    checked(this.#libc, 'setsockopt', done);
  }

  /** From now on it takes that one's datagrams alone, and what is sent without an address goes there. */
  connect(address: Address): void {
    checked(this.#libc, 'connect', this.#libc.connect(this.fd, address, ADDRESS_BYTES));
  }

  disconnect(): void {
    this.#libc.connect(this.fd, nobody, ADDRESS_BYTES);
  }

  close(): void {
    this.#libc.closeWithThread(this.fd, false);
    this.#libc.close(this.fd);
  }
}
