/** The newest items of a stream, in bounded memory. */

/** Keeps a fixed number of items; a newer one takes the place of the oldest. */
export class RecentItems<Item> {
  readonly #kept: Item[] = [];
  readonly #max: number;
  /** Where the next item goes, once all places are taken: the oldest lies there. */
  #oldest = 0;

  /** @param max items, 1 at least. */
  constructor(max: number) {
    this.#max = max;
  }

  add(item: Item): void {
    if (this.#kept.length < this.#max) {
      this.#kept.push(item);
      return;
    }
    this.#kept[this.#oldest] = item;
    this.#oldest = (this.#oldest + 1) % this.#max;
  }

  newestFirst(): readonly Item[] {
    return [...this.#kept.slice(this.#oldest), ...this.#kept.slice(0, this.#oldest)].reverse();
  }
}
