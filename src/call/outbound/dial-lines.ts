/** Pacing of outgoing calls per trunk: calls per second, free channels, time until the next dial. */

import type { WayOut } from '../../domain/dialing/outbound-rules.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Carrier, TrunkRoute } from '../../telephony/carrier.ts';

/** What carriers commonly allow an account; a trunk's own `callsPerSecond` goes before it. */
const CALLS_PER_SECOND = 5;

/** Taken for the time that a call holds its line until some calls have shown it. */
const LINE_HELD_MS_FIRST = 120_000;

/** Weight of the newest call in the running average. */
const NEWEST = 0.1;

/** How long to wait for a line before asking again: the other calls of a trunk come and go unseen. */
const LOOK_AGAIN_MS = 1000;

/** The part of a carrier that the dialer uses. */
export type DialCarrier = Pick<Carrier, 'place' | 'routeFor'>;

/** Free channels and call pace (calls per second) of each trunk. */
export class DialLines {
  readonly #carrier: DialCarrier;
  readonly #clock: Clock;
  readonly #callsPerSecond: number;
  /** By the name of the trunk; trunks are as many as the operator has set up. */
  readonly #nextDialAtMs = new Map<string, number>();
  #lineHeldMs = LINE_HELD_MS_FIRST;

  constructor(options: {
    readonly carrier: DialCarrier;
    readonly clock: Clock;
    readonly callsPerSecond: number | undefined;
  }) {
    this.#carrier = options.carrier;
    this.#clock = options.clock;
    this.#callsPerSecond = options.callsPerSecond ?? CALLS_PER_SECOND;
  }

  /** Route of calls from this number; undefined when no trunk has it. */
  routeFor(from: string): TrunkRoute | undefined {
    return this.#carrier.routeFor(from);
  }

  /** Reason why calls by this route cannot be dialled for now; undefined while they can. */
  problemOf(route: TrunkRoute | undefined): string | undefined {
    return route?.problem && `The trunk "${route.trunk}" takes no calls: ${route.problem}.`;
  }

  /** Milliseconds until a call by this route may be dialled; 0 for now, and without a route. */
  waitMs(route: TrunkRoute | undefined): number {
    if (route === undefined) return 0;
    const waitMs = this.#nextAtMs(route) - this.#clock.nowMs();
    if (waitMs > 0) return waitMs;
    return route.free > 0 ? 0 : LOOK_AGAIN_MS;
  }

  /**
   * Notes that a call is dialled now: the next one waits for its share of the second.
   *
   * @returns to be called when the call has released its channel.
   */
  dialled(route: TrunkRoute | undefined): () => void {
    const nowMs = this.#clock.nowMs();
    if (route !== undefined) {
      this.#nextDialAtMs.set(route.trunk, nowMs + 1000 / this.#paceOf(route));
    }
    return () => {
      this.#lineHeldMs += (this.#clock.nowMs() - nowMs - this.#lineHeldMs) * NEWEST;
    };
  }

  /** Load of the route, for the estimated start of a call. */
  loadOf(route: TrunkRoute): Omit<WayOut, 'callsAhead'> {
    return {
      nextDialAtMs: this.#nextAtMs(route),
      callsPerSecond: this.#paceOf(route),
      linesFree: route.free,
      linesTotal: route.total,
      lineHeldMs: this.#lineHeldMs,
    };
  }

  /** The carrier knows of calls that the dialer did not place: transfers, and calls that another trunk failed. */
  #nextAtMs({ trunk, nextDialAtMs = 0 }: TrunkRoute): number {
    return Math.max(this.#nextDialAtMs.get(trunk) ?? 0, nextDialAtMs);
  }

  #paceOf({ callsPerSecond }: TrunkRoute): number {
    return callsPerSecond ?? this.#callsPerSecond;
  }
}
