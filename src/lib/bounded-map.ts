/** A map with a limit, oldest entry first; pure */

/** Setting an entry makes it the newest; the oldest makes room where the map is full. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    super();
    this.#sizeMax = sizeMax;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    const [oldest] = this.size >= this.#sizeMax ? this.keys() : [];
    if (oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}
