/** Which deliveries are on their way, and how much room is left: in all, and for each endpoint. */

interface Taken {
  readonly endpointId: string;
  /** Takes the attempt back; undefined once it is over and waits to be written. */
  readonly takeBack: (() => void) | undefined;
}

/** Deliveries from their taking to the moment when their result is written. */
export class Slots {
  readonly #totalMax: number;
  readonly #perEndpointMax: number;
  readonly #taken = new Map<string, Taken>();
  readonly #ofEndpoint = new Map<string, number>();
  #sending = 0;

  constructor(options: { readonly totalMax: number; readonly perEndpointMax: number }) {
    this.#totalMax = options.totalMax;
    this.#perEndpointMax = options.perEndpointMax;
  }

  /** How many more may be taken. */
  get free(): number {
    return this.#totalMax - this.#taken.size;
  }

  /** Attempts without an answer so far. */
  get sending(): number {
    return this.#sending;
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.#taken.keys());
  }

  /** Endpoints that have no room. */
  get fullEndpoints(): readonly string[] {
    return [...this.#ofEndpoint]
      .filter(([, taken]) => taken >= this.#perEndpointMax)
      .map(([endpointId]) => endpointId);
  }

  hasRoom(endpointId: string): boolean {
    return this.free > 0 && (this.#ofEndpoint.get(endpointId) ?? 0) < this.#perEndpointMax;
  }

  /** @param takeBack takes the attempt back that begins now. */
  take(delivery: { readonly id: string; readonly endpointId: string }, takeBack: () => void): void {
    const { id, endpointId } = delivery;
    this.#taken.set(id, { endpointId, takeBack });
    this.#ofEndpoint.set(endpointId, (this.#ofEndpoint.get(endpointId) ?? 0) + 1);
    this.#sending += 1;
  }

  /** The attempt is over; its result is not written yet. */
  answered(deliveryId: string): void {
    const taken = this.#taken.get(deliveryId);
    if (taken?.takeBack === undefined) return;
    this.#taken.set(deliveryId, { endpointId: taken.endpointId, takeBack: undefined });
    this.#sending -= 1;
  }

  /** The result is written. */
  release(deliveryId: string): void {
    const taken = this.#taken.get(deliveryId);
    if (taken === undefined) return;
    this.#taken.delete(deliveryId);
    const left = (this.#ofEndpoint.get(taken.endpointId) ?? 1) - 1;
    if (left === 0) this.#ofEndpoint.delete(taken.endpointId);
    else this.#ofEndpoint.set(taken.endpointId, left);
  }

  /** Takes back every attempt without an answer; nothing is written of them. */
  takeAllBack(): void {
    for (const { takeBack } of this.#taken.values()) takeBack?.();
  }
}
