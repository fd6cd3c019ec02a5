/** Memory for datagrams that are read, or sent, together. */
import { type Libc, newMemory } from './libc.ts';
import { ADDRESS_BYTES } from './socket-address.ts';

/** Datagrams of one batch. */
export const SLOTS = 64;

/** A longer datagram is cut off, or not sent. No telephone audio comes near it, and a report that does is of no use. */
export const DATAGRAM_BYTES_MAX = 2048;

/** An odd number of the processor's cache lines: at powers of two the slots would push one another out. */
const SLOT_BYTES = DATAGRAM_BYTES_MAX + 64;

const ADDRESS_WORDS = ADDRESS_BYTES / Int32Array.BYTES_PER_ELEMENT;

/**
 * Slots that are made once, each for a datagram and an address, in memory that lives and stays where it is as long as
 * this object: the system is given places in it as numbers, which koffi passes on at once.
 */
export class DatagramSlots {
  readonly #bytes = new Uint8Array(newMemory((SLOTS * SLOT_BYTES) / 4).buffer);
  readonly #addresses = newMemory(SLOTS * ADDRESS_WORDS);
  readonly #bytesAt: number;
  readonly #addressesAt: number;
  readonly #views: Uint8Array[] = Array.from({ length: SLOTS }, () => this.#bytes.subarray(0, 0));

  constructor(libc: Libc) {
    this.#bytesAt = libc.addressOf(this.#bytes);
    this.#addressesAt = libc.addressOf(this.#addresses);
  }

  /** Where the system finds a slot's datagram. */
  datagramAt(slot: number): number {
    return this.#bytesAt + slot * SLOT_BYTES;
  }

  /** Where the system finds a slot's address. */
  addressAt(slot: number): number {
    return this.#addressesAt + slot * ADDRESS_BYTES;
  }

  /** The first so many bytes of a slot. Most datagrams have the length of the one before, and then it is the same view. */
  view(slot: number, size: number): Uint8Array {
    const before = this.#views[slot];
    if (before !== undefined && before.length === size) return before;
    const view = this.#bytes.subarray(slot * SLOT_BYTES, slot * SLOT_BYTES + size);
    this.#views[slot] = view;
    return view;
  }

  /** Family and port of a slot's address, as one number. */
  portOf(slot: number): number {
    return this.#addresses[slot * ADDRESS_WORDS] ?? 0;
  }

  /** The host of a slot's address, as one number. */
  hostOf(slot: number): number {
    return this.#addresses[slot * ADDRESS_WORDS + 1] ?? 0;
  }

  setAddress(slot: number, port: number, host: number): void {
    this.#addresses[slot * ADDRESS_WORDS] = port;
    this.#addresses[slot * ADDRESS_WORDS + 1] = host;
  }
}
