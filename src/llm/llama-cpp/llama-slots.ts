/** Which of the model's memories answers which question: the one that remembers most of it. */

/** One memory. `keys` are its prompt's parts in order, as text. */
export interface Slot<Seat> {
  readonly seat: Seat;
  keys: readonly string[];
  isBusy: boolean;
  usedAt: number;
}

/** Those who wait for a memory; a caller who is further back would wait for longer than callers do. */
const WAITING_MAX = 16;

export class LlamaSlots<Seat> {
  readonly #slots: readonly Slot<Seat>[];
  readonly #waiting: (() => void)[] = [];
  #uses = 0;

  constructor(seats: readonly Seat[]) {
    this.#slots = seats.map((seat) => ({ seat, keys: [], isBusy: false, usedAt: 0 }));
  }

  /**
   * Takes a free one: that which shares the longest beginning with `keys`, of equal ones that which rested longest.
   *
   * @returns undefined when all are busy.
   */
  takeFree(keys: readonly string[]): Slot<Seat> | undefined {
    const free = this.#slots.filter(({ isBusy }) => !isBusy);
    const [best] = free.toSorted(
      (one, other) =>
        sharedStart(other.keys, keys) - sharedStart(one.keys, keys) || one.usedAt - other.usedAt,
    );
    if (best === undefined) return undefined;
    this.#uses += 1;
    Object.assign(best, { isBusy: true, keys, usedAt: this.#uses });
    return best;
  }

  /**
   * Waits for one.
   *
   * @throws {Error} when too many wait already; the signal's reason when aborted.
   */
  async take(keys: readonly string[], signal: AbortSignal): Promise<Slot<Seat>> {
    for (;;) {
      signal.throwIfAborted();
      const slot = this.takeFree(keys);
      if (slot !== undefined) return slot;
      if (this.#waiting.length >= WAITING_MAX) throw new Error('too many calls wait for it');
      await this.#turn(signal);
    }
  }

  /** Gives one back; the next who waits may take it. */
  release(slot: Slot<Seat>): void {
    slot.isBusy = false;
    this.#waiting.shift()?.();
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve();
      };
      this.#waiting.push(wake);
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}

/** How many parts two prompts have in common before the first that differs. */
function sharedStart(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((key, index) => key !== other[index]);
  return at === -1 ? Math.min(one.length, other.length) : at;
}
