/** Tells listeners that there is something to look at, once for many reasons, and never in the middle of a transaction. */

export class Notifier {
  readonly #listeners = new Set<() => void>();
  #isRung = false;

  /** Adds a listener. @returns removes it; safe to call twice. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Rings when the code that runs now is done: SQLite transactions are synchronous, so what they write is committed
   * by then, or taken back.
   */
  ring(): void {
    if (this.#isRung || this.#listeners.size === 0) return;
    this.#isRung = true;
    queueMicrotask(() => {
      this.#isRung = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
