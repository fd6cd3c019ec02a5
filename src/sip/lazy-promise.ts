/** A result that is set once; creates its promise lazily; pure */
export class LazyPromise<T> {
  #settled: { readonly value: T } | undefined;
  #promise: Promise<T> | undefined;
  #resolve: ((value: T) => void) | undefined;

  get isSettled(): boolean {
    return this.#settled !== undefined;
  }

  get promise(): Promise<T> {
    this.#promise ??= new Promise((resolve) => {
      if (this.#settled === undefined) this.#resolve = resolve;
      else resolve(this.#settled.value);
    });
    return this.#promise;
  }

  /** The first value counts. */
  settle(value: T): void {
    if (this.#settled !== undefined) return;
    this.#settled = { value };
    this.#resolve?.(value);
  }
}
