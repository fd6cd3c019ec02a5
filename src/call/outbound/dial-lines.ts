/** The ways out of one dialer: which trunk a number takes, how fast it may be dialled through, how busy it is. */
import type { WayOut } from '../../domain/dialing/dial-queue.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Carrier } from '../../telephony/carrier.ts';
import type { TrunkLine, TrunkLines } from '../../telephony/trunks/trunk-line.ts';

/** What carriers commonly allow an account; a trunk's own `callsPerSecond` goes before it. */
const CALLS_PER_SECOND = 5;

/** Taken for the time that a call holds its line until some calls have shown it. */
const LINE_HELD_MS_FIRST = 120_000;

/** Weight of the newest call in the running average. */
const NEWEST = 0.1;

/** How long to wait for a line before asking again: the other calls of a trunk come and go unseen. */
const LOOK_AGAIN_MS = 1000;

/** Without `lineOf`, every number that has a trunk takes one and the same, which has lines without end. */
export type DialCarrier = Pick<Carrier, 'place' | 'hasTrunkFor'> & Partial<TrunkLines>;

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

  /** Name of the trunk that calls from this number take; undefined when there is none. */
  trunkOf(from: string): string | undefined {
    return this.#lineOf(from)?.trunk;
  }

  /** Why calls from this number cannot be dialled for now; undefined where they can, or have no trunk. */
  problemOf(from: string): string | undefined {
    const line = this.#lineOf(from);
    return line?.problem && `The trunk "${line.trunk}" takes no calls: ${line.problem}.`;
  }

  /** How long until a call from this number may be dialled, in milliseconds; 0 when it may be now. */
  waitMs(from: string): number {
    const line = this.#lineOf(from);
    // Without a trunk it has nothing to wait for.
    if (line === undefined) return 0;
    const waitMs = this.#nextAtMs(line) - this.#clock.nowMs();
    if (waitMs > 0) return waitMs;
    return line.free > 0 ? 0 : LOOK_AGAIN_MS;
  }

  /**
   * A call from this number is dialled now: the next one has to wait for its share of the second.
   *
   * @returns to be called when the call has given its line back.
   */
  dialled(from: string): () => void {
    const line = this.#lineOf(from);
    const nowMs = this.#clock.nowMs();
    if (line !== undefined) this.#nextDialAtMs.set(line.trunk, nowMs + 1000 / this.#paceOf(line));
    return () => {
      this.#lineHeldMs += (this.#clock.nowMs() - nowMs - this.#lineHeldMs) * NEWEST;
    };
  }

  /** How busy the way out is; undefined when no trunk has the number. */
  wayOut(from: string): Omit<WayOut, 'callsAhead'> | undefined {
    const line = this.#lineOf(from);
    if (line === undefined) return undefined;
    return {
      nextDialAtMs: this.#nextAtMs(line),
      callsPerSecond: this.#paceOf(line),
      linesFree: line.free,
      linesTotal: line.total,
      lineHeldMs: this.#lineHeldMs,
    };
  }

  #lineOf(from: string): TrunkLine | undefined {
    if (this.#carrier.lineOf !== undefined) return this.#carrier.lineOf(from);
    if (!this.#carrier.hasTrunkFor(from)) return undefined;
    const lines = { free: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY };
    return { trunk: '', callsPerSecond: undefined, ...lines };
  }

  #nextAtMs({ trunk }: TrunkLine): number {
    return this.#nextDialAtMs.get(trunk) ?? 0;
  }

  #paceOf({ callsPerSecond }: TrunkLine): number {
    return callsPerSecond ?? this.#callsPerSecond;
  }
}
