/** Whose turn it is: callers are served one after the other, wherever they wait; pure */

/** Shared by all queues of one machine. */
export class CallerTurns {
  readonly #turns = new WeakMap<object, number>();
  #newest = 0;

  /** Number of the turn that was theirs last; 0 before the first. */
  lastOf(caller: object): number {
    return this.#turns.get(caller) ?? 0;
  }

  took(caller: object): void {
    this.#newest += 1;
    this.#turns.set(caller, this.#newest);
  }

  /** The turn came to nothing: the next one is theirs. */
  giveBack(caller: object): void {
    this.#turns.delete(caller);
  }
}
