/** Pace of a campaign: calls at even distances, also after late timers and changes of the clock; pure */

/** What a late look may make up for; more would be a burst. In milliseconds. */
const CATCH_UP_MS = 250;

/** Decides when the next call of one campaign may be made. Instants are those of `Clock.nowMs`. */
export class CampaignPace {
  readonly #distanceMs: number;
  #nextAtMs: number;

  /** @param options.firstAtMs the first call is not made before. */
  constructor(options: { readonly callsPerMinute: number; readonly firstAtMs: number }) {
    this.#distanceMs = distanceMs(options);
    this.#nextAtMs = options.firstAtMs;
  }

  /** Milliseconds until a call may be made; 0 for now. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#nextAtMs - nowMs);
  }

  /** A call was made now. */
  called(nowMs: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs - CATCH_UP_MS) + this.#distanceMs;
  }
}

/** Between two calls. */
export function distanceMs({ callsPerMinute }: { readonly callsPerMinute: number }): number {
  return 60_000 / callsPerMinute;
}
