/** Datagrams that were read and have not been handed over yet. */
import { keepPrefetched } from '../prefetched.ts';
import { DATAGRAM_BYTES_MAX, DatagramSlots, SLOTS } from './datagram-slots.ts';
import { type Libc, newMemory } from './libc.ts';
import { ADDRESS_BYTES } from './socket-address.ts';
import { SocketBatch } from './socket-batch.ts';

/** Whose datagrams are read. */
export interface Reader {
  /** See `keepPrefetched`. */
  prefetch(): number;

  /** The descriptor on which all that comes is of the one that it is connected to; -1 where there is none. */
  readonly peerFd: number;

  /** Takes one; `port` and `host` are its sender's, as `DatagramSlots` has them, or 0 of the one it is connected to. */
  take(datagram: Uint8Array, port: number, host: number, nowMs: number): void;
}

/**
 * All are read, and then all handed over: the system's code and ours push one another out of the processor's nearest
 * memory, which costs 2 µs a packet when they take turns, and so once a batch.
 */
export class Inbox {
  readonly #libc: Libc;
  readonly #slots: DatagramSlots;
  readonly #batch: SocketBatch | undefined;
  readonly #addressBytes = newMemory(1);
  readonly #addressBytesAt: number;
  readonly #readerOf: (fd: number) => Reader | undefined;
  readonly #fds = new Int32Array(SLOTS);
  readonly #sizes = new Int32Array(SLOTS);
  #count = 0;

  /** @param readerOf finds who takes what a descriptor brought; nobody, where a datagram before it has closed that. */
  constructor(libc: Libc, readerOf: (fd: number) => Reader | undefined) {
    this.#libc = libc;
    this.#readerOf = readerOf;
    this.#slots = new DatagramSlots(libc);
    this.#batch = SocketBatch.open(libc, this.#slots, 'read');
    this.#addressBytesAt = libc.addressOf(this.#addressBytes);
  }

  /** Reads one datagram, if there is one and room for it; of sockets that hear one far end alone, not before `deliver`. */
  read(fd: number): void {
    const slot = this.#count;
    if (slot === SLOTS) return;
    if (this.#batch !== undefined && this.#readerOf(fd)?.peerFd === fd) {
      this.#batch.add(slot, fd, DATAGRAM_BYTES_MAX);
      this.#slots.setAddress(slot, 0, 0);
      this.#fds[slot] = fd;
      this.#sizes[slot] = -1;
      this.#count += 1;
      return;
    }
    this.#addressBytes[0] = ADDRESS_BYTES;
    const size = this.#libc.recvfrom(
      fd,
      this.#slots.datagramAt(slot),
      DATAGRAM_BYTES_MAX,
      0,
      this.#slots.addressAt(slot),
      this.#addressBytesAt,
    );
    // Less than nothing: none is there any more, or this has taken an error that told of one sent earlier.
    if (size < 0) return;
    this.#fds[slot] = fd;
    this.#sizes[slot] = size;
    this.#count += 1;
  }

  /** Hands over what was read, in order. */
  deliver(nowMs: number): void {
    const count = this.#count;
    this.#count = 0;
    this.#batch?.run(this.#sizes);
    this.#prefetch(count);
    for (let slot = 0; slot < count; slot += 1) {
      const size = this.#sizes[slot] ?? 0;
      if (size < 0) continue;
      const datagram = this.#slots.view(slot, size);
      const reader = this.#readerOf(this.#fds[slot] ?? 0);
      reader?.take(datagram, this.#slots.portOf(slot), this.#slots.hostOf(slot), nowMs);
    }
  }

  close(): void {
    this.#batch?.close();
  }

  #prefetch(count: number): void {
    let sum = 0;
    for (let slot = 0; slot < count; slot += 1) {
      sum += this.#readerOf(this.#fds[slot] ?? 0)?.prefetch() ?? 0;
    }
    keepPrefetched(sum);
  }
}
