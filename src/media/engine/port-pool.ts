/** RTP ports of the engine's range: which are in use or draining; pure */

/** No port of the range is free. */
export class PortsExhaustedError extends Error {
  override readonly name = 'PortsExhaustedError';
}

/** UDP ports that the engine may use. */
export interface PortRange {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/**
 * Assigns ports in turn from a random beginning, so that a port rests as long as possible between two calls. Release a
 * port only after its draining.
 */
export class PortPool {
  readonly #range: PortRange;
  readonly #evenPorts: readonly number[];
  readonly #taken = new Set<number>();
  #next: number;

  /** @param options.chance from 0 to 1, where to begin. */
  constructor(options: { readonly range: PortRange; readonly chance: number }) {
    this.#range = options.range;
    this.#evenPorts = evenPorts(options.range);
    this.#next = Math.floor(options.chance * this.#evenPorts.length);
  }

  /** Number of port pairs. */
  get size(): number {
    return this.#evenPorts.length;
  }

  /** @throws {PortsExhaustedError} */
  claim(): number {
    for (let tried = 0; tried < this.size; tried += 1) {
      const port = this.#evenPorts[this.#next % this.size] ?? 0;
      this.#next += 1;
      if (this.#taken.has(port)) continue;
      this.#taken.add(port);
      return port;
    }
    const { first, last } = this.#range;
    throw new PortsExhaustedError(
      `Cannot open a media port in "${first}-${last}": all ${this.size} pairs are in use or draining`,
    );
  }

  release(port: number): void {
    this.#taken.delete(port);
  }
}

/** How many calls have a port for RTP and the next one for RTCP in the range. */
export function pairsIn(range: PortRange): number {
  return evenPorts(range).length;
}

/** Even ports whose odd neighbour is in the range too. */
function evenPorts({ first, last }: PortRange): number[] {
  const start = first + (first % 2);
  const count = Math.max(0, Math.floor((last - start + 1) / 2));
  return Array.from({ length: count }, (_, index) => start + index * 2);
}
