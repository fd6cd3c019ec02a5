/** Map for short-lived values, which releases a value at once when it is deleted; pure */

/** Holder of a value, empty after its deletion. A class: V8 may allocate object literals as long-lived. */
class Place<V> {
  value: V | undefined;

  constructor(value: V) {
    this.value = value;
  }
}

/**
 * Keeps deleted values from surviving in V8's old Map tables.
 *
 * A Map that is rebuilt links its old table to the new one. A table that has survived two scavenges keeps all later ones
 * alive, with every value they ever held, until the next full collection: ten kilobytes per call, and pauses of 12 to
 * 20 ms at 3,000 calls a second. Here old tables hold empty holders.
 */
export class TurnoverMap<V extends object> {
  readonly #places = new Map<string, Place<V>>();

  get size(): number {
    return this.#places.size;
  }

  get(key: string): V | undefined {
    return this.#places.get(key)?.value;
  }

  /** Releases an earlier value of the key. */
  set(key: string, value: V): void {
    this.delete(key);
    this.#places.set(key, new Place(value));
  }

  /** Whether the key had a value. */
  delete(key: string): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    place.value = undefined;
    return this.#places.delete(key);
  }

  /** Copy of all values, the oldest first. */
  values(): V[] {
    return [...this.#places.values()].flatMap(({ value }) => value ?? []);
  }
}
