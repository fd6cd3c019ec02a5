/** A map of what comes and goes by the thousand, whose values are let go the moment they are taken out; pure */

/** Where a value stands; empty once it was taken out. A class, as V8 may hold what an object literal makes for long-lived. */
class Place<V> {
  value: V | undefined;

  constructor(value: V) {
    this.value = value;
  }
}

/**
 * V8's own Map, each time it is rebuilt, leaves its old table behind with all that was in it, linked to the new one. Where one
 * such table has outlived two scavenges, each later one is kept and copied too, with every value it ever held, until the
 * next full collection: at 3,000 calls a second that was whole calls, ten kilobytes each. Here old tables hold empty places.
 */
export class TurnoverMap<V extends object> {
  readonly #places = new Map<string, Place<V>>();

  get size(): number {
    return this.#places.size;
  }

  get(key: string): V | undefined {
    return this.#places.get(key)?.value;
  }

  /** A value that has the key already is let go. */
  set(key: string, value: V): void {
    this.delete(key);
    this.#places.set(key, new Place(value));
  }

  /** Whether there was anything of that key. */
  delete(key: string): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    place.value = undefined;
    return this.#places.delete(key);
  }

  /** All there are at this moment, the oldest first; a copy, so that they may be taken out meanwhile. */
  values(): V[] {
    return [...this.#places.values()].flatMap(({ value }) => value ?? []);
  }
}
