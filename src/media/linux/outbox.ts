/** Datagrams that are to be sent and have not been given to the system yet. */
import { DATAGRAM_BYTES_MAX, DatagramSlots, SLOTS } from './datagram-slots.ts';
import type { Libc } from './libc.ts';
import { ADDRESS_BYTES } from './socket-address.ts';
import { SocketBatch } from './socket-batch.ts';

/** All are made, and then all sent, for the same reason that `Inbox` gives. */
export class Outbox {
  readonly #libc: Libc;
  readonly #slots: DatagramSlots;
  readonly #batch: SocketBatch | undefined;
  readonly #fds = new Int32Array(SLOTS);
  readonly #sizes = new Int32Array(SLOTS);
  #count = 0;

  constructor(libc: Libc) {
    this.#libc = libc;
    this.#slots = new DatagramSlots(libc);
    this.#batch = SocketBatch.open(libc, this.#slots, 'write');
  }

  /** Whether what goes to far ends that are connected goes in one system call. */
  get isBatching(): boolean {
    return this.#batch !== undefined;
  }

  /** Puts a copy down; `port` and `host` are the target's, as `DatagramSlots` has them, or 0 where the socket is connected to it. */
  put(fd: number, datagram: Uint8Array, port: number, host: number): void {
    if (datagram.length > DATAGRAM_BYTES_MAX) return;
    if (this.#count === SLOTS) this.flush();
    const slot = this.#count;
    this.#count += 1;
    this.#slots.view(slot, datagram.length).set(datagram);
    this.#slots.setAddress(slot, port, host);
    this.#fds[slot] = fd;
    this.#sizes[slot] = datagram.length;
  }

  /** Sends them, those of each socket in order. An error means that a packet is lost; the line's next one is due in 20 ms. */
  flush(): void {
    for (let slot = 0; slot < this.#count; slot += 1) {
      const isConnected = this.#slots.portOf(slot) === 0;
      if (isConnected && this.#batch !== undefined) {
        this.#batch.add(slot, this.#fds[slot] ?? 0, this.#sizes[slot] ?? 0);
      } else this.#send(slot, isConnected);
    }
    this.#count = 0;
    this.#batch?.run();
  }

  close(): void {
    this.#batch?.close();
  }

  #send(slot: number, isConnected: boolean): void {
    this.#libc.sendto(
      this.#fds[slot] ?? 0,
      this.#slots.datagramAt(slot),
      this.#sizes[slot] ?? 0,
      0,
      isConnected ? 0 : this.#slots.addressAt(slot),
      isConnected ? 0 : ADDRESS_BYTES,
    );
  }
}
