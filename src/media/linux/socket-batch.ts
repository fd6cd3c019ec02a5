/** Datagrams to, or from, the far ends of many connected sockets in one system call. @see io_submit(2) */
import { type DatagramSlots, SLOTS } from './datagram-slots.ts';
import { type Libc, newMemory } from './libc.ts';

const READ = 0;
const WRITE = 1;

/**
 * One of `struct iocb`, in words of 32 bits; what is not named stays 0.
 *
 *     0  data     which slot it is of
 *     4  opcode   with a priority of 0
 *     5  descriptor
 *     6  where the datagram is, 64 bits
 *     8  its size
 */
const ORDER = { words: 16, data: 0, opcode: 4, fd: 5, datagramAt: 6, bytes: 8 } as const;

/** One of `struct io_event`, likewise: which slot it is of, and what `read` or `write` would have returned. */
const RESULT = { words: 8, data: 0, value: 4 } as const;

const ORDER_BYTES = ORDER.words * Int32Array.BYTES_PER_ELEMENT;

const LOW = 2 ** 32;

/**
 * A call of ours costs as much as the system's way into it, and this is one for a batch. Nothing is left under way: for
 * sockets that never block, all is done when `run` returns.
 */
export class SocketBatch {
  readonly #libc: Libc;
  readonly #context: number;
  readonly #orders = newMemory(SLOTS * ORDER.words);
  /** Places of the orders to be given, 64 bits each. */
  readonly #given = newMemory(SLOTS * 2);
  readonly #results = newMemory(SLOTS * RESULT.words);
  readonly #ordersAt: number;
  readonly #givenAt: number;
  readonly #resultsAt: number;
  #count = 0;

  private constructor(libc: Libc, context: number) {
    this.#libc = libc;
    this.#context = context;
    this.#ordersAt = libc.addressOf(this.#orders);
    this.#givenAt = libc.addressOf(this.#given);
    this.#resultsAt = libc.addressOf(this.#results);
  }

  /**
   * A thread that dies leaves its context, some pages, to the end of the process.
   *
   * @returns undefined where the system has no such call, or no room for more of its users.
   */
  static open(libc: Libc, slots: DatagramSlots, kind: 'read' | 'write'): SocketBatch | undefined {
    const context = libc.batchSetup(SLOTS);
    if (context === undefined) return undefined;
    const batch = new SocketBatch(libc, context);
    for (let slot = 0; slot < SLOTS; slot += 1) batch.#prepare(slots, slot, kind);
    return batch;
  }

  /** Puts the slot's datagram, or room for one, on the list. */
  add(slot: number, fd: number, bytes: number): void {
    const order = slot * ORDER.words;
    this.#orders[order + ORDER.fd] = fd;
    this.#orders[order + ORDER.bytes] = bytes;
    this.#writePlace(this.#given, this.#count * 2, this.#ordersAt + slot * ORDER_BYTES);
    this.#count += 1;
  }

  /** Does all that is on the list. @param sizes has the result for each slot written to it, less than 0 for an error. */
  run(sizes?: Int32Array): void {
    const count = this.#count;
    if (count === 0) return;
    this.#count = 0;
    for (let done = 0; done < count; ) {
      const taken = this.#libc.batchSubmit(this.#context, count - done, this.#givenAt + done * 8);
      // Where none is taken, the first is one that the system will not hear of.
      done += Math.max(1, taken);
    }
    const results = this.#libc.batchResults(this.#context, SLOTS, this.#resultsAt);
    if (sizes === undefined) return;
    for (let result = 0; result < results; result += 1) {
      const at = result * RESULT.words;
      sizes[this.#results[at + RESULT.data] ?? 0] = this.#results[at + RESULT.value] ?? -1;
    }
  }

  close(): void {
    this.#libc.batchDestroy(this.#context);
  }

  #prepare(slots: DatagramSlots, slot: number, kind: 'read' | 'write'): void {
    const order = slot * ORDER.words;
    this.#orders[order + ORDER.data] = slot;
    this.#orders[order + ORDER.opcode] = kind === 'read' ? READ : WRITE;
    this.#writePlace(this.#orders, order + ORDER.datagramAt, slots.datagramAt(slot));
  }

  #writePlace(words: Int32Array, at: number, place: number): void {
    words[at] = (place % LOW) | 0;
    words[at + 1] = Math.floor(place / LOW);
  }
}
