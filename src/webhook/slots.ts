/** Which deliveries are on their way, and how much room is left: for quick endpoints, for slow ones, and for each. */

/** How many attempts may be on their way. */
export interface SlotLimits {
  /** Attempts that have not waited for long yet. */
  readonly quickMax: number;
  /** Attempts of one endpoint. */
  readonly perEndpointMax: number;
  /** While so many are on their way to slow endpoints, no more begin; each of these has one at most. */
  readonly slowMax: number;
  /** All together. */
  readonly totalMax: number;
  /** An attempt that takes longer makes its endpoint slow, until it answers quickly again. */
  readonly slowAfterMs: number;
}

/** The limits of the server. */
export const DELIVERER_LIMITS: SlotLimits = {
  quickMax: 64,
  perEndpointMax: 4,
  slowMax: 16,
  totalMax: 512,
  slowAfterMs: 1000,
};

/** More endpoints than these are never remembered as slow; the one remembered for longest is forgotten. */
const SLOW_REMEMBERED_MAX = 10_000;

interface Taken {
  readonly endpointId: string;
  readonly takenAtMs: number;
  /** Takes the attempt back. */
  readonly takeBack: () => void;
}

/**
 * Deliveries from their taking to their answer. An attempt that waits for long leaves its place to others, so that
 * endpoints that hang, however many, hold up nobody but themselves.
 */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<string, Taken>();
  readonly #ofEndpoint = new Map<string, number>();
  readonly #slow = new Set<string>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** How many more may be taken. */
  free(nowMs: number): number {
    const { quickMax, totalMax } = this.#limits;
    const waiting = this.#noteSlow(nowMs);
    return Math.min(quickMax - (this.#taken.size - waiting), totalMax - this.#taken.size);
  }

  /** Attempts without an answer so far. */
  get sending(): number {
    return this.#taken.size;
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.#taken.keys());
  }

  /** Endpoints that have no room. */
  fullEndpoints(nowMs: number): readonly string[] {
    this.#noteSlow(nowMs);
    const known = new Set([...this.#ofEndpoint.keys(), ...this.#slow]);
    return [...known].filter((endpointId) => !this.hasRoom(endpointId));
  }

  /** Whether one more may be taken for the endpoint, where there is a free slot. */
  hasRoom(endpointId: string): boolean {
    const { perEndpointMax, slowMax } = this.#limits;
    if (!this.#slow.has(endpointId)) return this.#takenOf(endpointId) < perEndpointMax;
    return this.#takenOf(endpointId) === 0 && this.#slowTaken < slowMax;
  }

  /** @param attempt.takeBack takes the attempt back that begins now. */
  take(
    delivery: { readonly id: string; readonly endpointId: string },
    attempt: { readonly nowMs: number; readonly takeBack: () => void },
  ): void {
    const { id, endpointId } = delivery;
    this.#taken.set(id, { endpointId, takenAtMs: attempt.nowMs, takeBack: attempt.takeBack });
    this.#ofEndpoint.set(endpointId, this.#takenOf(endpointId) + 1);
  }

  /** The attempt is over. @returns whether it was quick, so that another may take its place. */
  answered(deliveryId: string, nowMs: number): boolean {
    const taken = this.#taken.get(deliveryId);
    if (taken === undefined) return false;
    const { endpointId, takenAtMs } = taken;
    this.#taken.delete(deliveryId);
    const left = this.#takenOf(endpointId) - 1;
    if (left <= 0) this.#ofEndpoint.delete(endpointId);
    else this.#ofEndpoint.set(endpointId, left);
    const isSlow = nowMs - takenAtMs > this.#limits.slowAfterMs;
    if (isSlow) this.#remember(endpointId);
    else this.#slow.delete(endpointId);
    return !isSlow;
  }

  /** Takes back every attempt without an answer; nothing is written of them. */
  takeAllBack(): void {
    for (const { takeBack } of this.#taken.values()) takeBack();
  }

  /** Remembers whose attempts wait for long. @returns how many of these attempts there are. */
  #noteSlow(nowMs: number): number {
    let waiting = 0;
    for (const { endpointId, takenAtMs } of this.#taken.values()) {
      if (nowMs - takenAtMs <= this.#limits.slowAfterMs) continue;
      this.#remember(endpointId);
      waiting += 1;
    }
    return waiting;
  }

  get #slowTaken(): number {
    let taken = 0;
    for (const endpointId of this.#slow) taken += this.#takenOf(endpointId);
    return taken;
  }

  #takenOf(endpointId: string): number {
    return this.#ofEndpoint.get(endpointId) ?? 0;
  }

  #remember(endpointId: string): void {
    const [oldest] = this.#slow;
    if (this.#slow.size >= SLOW_REMEMBERED_MAX && oldest !== undefined) this.#slow.delete(oldest);
    this.#slow.add(endpointId);
  }
}
