/** How many attempts may be in flight: to one endpoint, to failing endpoints, and in all. */

/** Attempts in flight to one endpoint that answers 2xx, however slowly. */
export const PER_ENDPOINT_MAX = 16;

/** Attempts in flight to endpoints that are not failing. A crash makes the next process repeat this many at most. */
export const IN_FLIGHT_MAX = 512;

/** Attempts in flight to failing endpoints, one each: endpoints that hang, however many, take no more than this. */
export const FAILING_MAX = 64;

/** Failing endpoints that are cached; one more, and all count as healthy until they fail again. */
const REMEMBERED_MAX = 10_000;

/** Attempts that share a bound. */
interface Pool {
  readonly max: number;
  inFlight: number;
}

/**
 * Deliveries in flight. An endpoint is failing from an attempt that was not answered 2xx in time to the next one that
 * was.
 */
export class DeliveryConcurrency {
  readonly #inFlight = new Map<string, Set<string>>();
  readonly #failing = new Set<string>();
  readonly #healthyPool: Pool = { max: IN_FLIGHT_MAX, inFlight: 0 };
  readonly #failingPool: Pool = { max: FAILING_MAX, inFlight: 0 };

  /** Ids of the deliveries in flight to an endpoint. */
  idsOf(endpointId: string): readonly string[] {
    return [...(this.#inFlight.get(endpointId) ?? [])];
  }

  /** How many more attempts may begin now. */
  room(endpointId: string): number {
    const max = this.#failing.has(endpointId) ? 1 : PER_ENDPOINT_MAX;
    const pool = this.#poolOf(endpointId);
    const inFlight = this.#inFlight.get(endpointId)?.size ?? 0;
    return Math.max(0, Math.min(max - inFlight, pool.max - pool.inFlight));
  }

  /** Begins an attempt. @returns ends it, saying whether it was answered 2xx in time; to be called once. */
  begin(endpointId: string, deliveryId: string): (isSuccess: boolean) => void {
    const pool = this.#poolOf(endpointId);
    const ids = this.#inFlight.get(endpointId) ?? new Set();
    pool.inFlight += 1;
    this.#inFlight.set(endpointId, ids.add(deliveryId));
    return (isSuccess) => {
      pool.inFlight -= 1;
      ids.delete(deliveryId);
      if (ids.size === 0) this.#inFlight.delete(endpointId);
      if (isSuccess) this.#failing.delete(endpointId);
      else this.#addFailing(endpointId);
    };
  }

  #poolOf(endpointId: string): Pool {
    return this.#failing.has(endpointId) ? this.#failingPool : this.#healthyPool;
  }

  #addFailing(endpointId: string): void {
    if (this.#failing.size >= REMEMBERED_MAX) this.#failing.clear();
    this.#failing.add(endpointId);
  }
}
