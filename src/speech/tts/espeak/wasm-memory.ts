/** A WASM program's memory as it was before its `main` ran, so that `main` can run in it again. */

/** Grows by being another buffer. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer;
}

/**
 * A command-line program leaves its variables and its heap as they are when it ends, and cannot run twice on them. With
 * its memory put back it does not know that it ever ran: 2 ms for the 18 MB that espeak-ng fills, instead of 80 ms for a
 * new instance.
 */
export class MemoryBefore {
  readonly #memory: LinearMemory;
  readonly #buffer: ArrayBuffer;
  /** Up to the last byte that is not zero. */
  readonly #bytes: Uint8Array;

  constructor(memory: LinearMemory) {
    this.#memory = memory;
    this.#buffer = memory.buffer;
    const all = new Uint8Array(memory.buffer);
    this.#bytes = all.slice(0, all.findLastIndex((byte) => byte !== 0) + 1);
  }

  /** Whether the memory has grown since: then other code's views of it are empty, and it cannot be put back. */
  get isOutgrown(): boolean {
    return this.#memory.buffer !== this.#buffer;
  }

  putBack(): void {
    const memory = new Uint8Array(this.#buffer);
    memory.set(this.#bytes);
    memory.fill(0, this.#bytes.length);
  }
}
