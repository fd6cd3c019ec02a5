/** In-memory copy of one environment's outbound queue, and the reasons that hold its calls back: their own hours, lines and pace of their trunk. */
import type { WaitingParty } from '../../domain/call/call.ts';
import { type CallingHours, countryOf } from '../../domain/dialing/calling-hours.ts';
import { hoursHold, windowHold } from '../../domain/dialing/dial-window.ts';
import { QUEUED_CALLS_MAX, type WayOut } from '../../domain/dialing/outbound-rules.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Carrier, TrunkRoute } from '../../telephony/carrier.ts';

/** Largest queue that is read again whenever a call is added; longer queues once in `LONG_REFRESH_MS`. */
const SHORT_QUEUE = 50;

const LONG_REFRESH_MS = 1000;

/** A queued call, with the properties that decide when to dial it. */
export interface WaitingCall {
  readonly callId: string;
  readonly accountId: string;
  readonly from: string;
  /** ISO 3166 code of the called number's country; undefined where the number does not determine one. */
  readonly country: string | undefined;
  /** Undefined when no trunk has the number it is from. */
  readonly trunk: string | undefined;
  /** Recorded reason for its wait. */
  readonly failureReason: string | null;
  /** A date of the calendar, which a clock that is set moves. */
  readonly notBeforeAt: Date | null;
  /** A date of the calendar, for calls with a window; null for others. */
  readonly expiresAt: Date | null;
  /** On `Clock.nowMs`, for calls without a window: a clock that is set moves no deadline. Null where it may wait without end. */
  readonly expiresAtMs: number | null;
}

interface QueueOptions {
  /** Reads the waiting calls, in order. */
  readonly load: (limit: number) => Promise<readonly WaitingParty[]>;
  readonly trunkOf: (from: string) => string | undefined;
  readonly clock: Clock;
}

/** Queued calls of one environment, oldest first, reread from the database. */
export class OutboundQueue {
  readonly #options: QueueOptions;
  /** In the order in which they were asked for. */
  readonly #waiting = new Map<string, WaitingCall>();
  #hasMore = false;
  #refreshAtMs = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Whether no call waits, and none can have been added since the last read. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0 && !this.#hasMore;
  }

  /** Calls were added, or may have been. */
  hasMore(): void {
    this.#hasMore = true;
  }

  /** Reads the queue again where calls were added; a long one not at every one of them. */
  async refresh(): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    const isShort = this.#waiting.size < SHORT_QUEUE;
    if (!this.#hasMore || (!isShort && nowMs < this.#refreshAtMs)) return;
    const trunks = new Map<string, string | undefined>();
    this.#hasMore = false;
    const calls = await this.#options.load(QUEUED_CALLS_MAX);
    const known = new Map(this.#waiting);
    this.#waiting.clear();
    for (const { id: callId, to, notAfterAt, ...call } of calls) {
      const { from } = call;
      if (!trunks.has(from)) trunks.set(from, this.#options.trunkOf(from));
      const before = known.get(callId);
      const hasWindow = call.notBeforeAt !== null || notAfterAt !== null;
      this.#waiting.set(callId, {
        ...call,
        callId,
        trunk: trunks.get(from),
        country: before === undefined ? countryOf(to) : before.country,
        expiresAt: hasWindow ? call.expiresAt : null,
        expiresAtMs: hasWindow ? null : (before?.expiresAtMs ?? this.#elapsedOf(call.expiresAt)),
      });
    }
    // The API adds no more, but another version may have.
    if (calls.length >= QUEUED_CALLS_MAX) this.#hasMore = true;
    this.#refreshAtMs = nowMs + LONG_REFRESH_MS;
  }

  #elapsedOf(date: Date | null): number | null {
    if (date === null) return null;
    return this.#options.clock.nowMs() + date.getTime() - this.#options.clock.now().getTime();
  }

  /** The known calls in order, as of now. */
  waiting(): readonly WaitingCall[] {
    return [...this.#waiting.values()];
  }

  /** Another reason is on record now. */
  replace(waiting: WaitingCall): void {
    if (this.#waiting.has(waiting.callId)) this.#waiting.set(waiting.callId, waiting);
  }

  delete({ callId }: WaitingCall): void {
    this.#waiting.delete(callId);
  }

  /**
   * How many calls would be dialled through the trunk before a new one.
   *
   * @param queued number of queued calls by the store's count; unread ones are taken to be before it.
   * @param held ids of the calls that are not to be dialled now.
   */
  aheadOn(
    trunk: string | undefined,
    queued: number,
    held: Pick<ReadonlySet<string>, 'has'>,
  ): number {
    let known = 0;
    for (const waiting of this.#waiting.values()) {
      if (waiting.trunk === trunk && !held.has(waiting.callId)) known += 1;
    }
    return known + Math.max(0, queued - this.#waiting.size);
  }
}

/** Reads the calling hours of an account; null where it has none. */
export type HoursOf = (accountId: string) => Promise<CallingHours | null>;

/** Sentences by call id; of the calls that are not to be dialled now. */
export type DialHolds = ReadonlyMap<string, string>;

/**
 * Finds which calls are not to be dialled now, by their own window and the account's calling hours: reads the hours of each
 * account once, and applies them once per country.
 */
export async function dialHolds(
  waiting: readonly WaitingCall[],
  { now, hoursOf }: { readonly now: Date; readonly hoursOf: HoursOf },
): Promise<DialHolds> {
  const hours = new Map<string, CallingHours | null>();
  const closed = new Map<string, string | undefined>();
  const holds = new Map<string, string>();
  for (const call of waiting) {
    const { accountId, callId, country } = call;
    if (!hours.has(accountId)) hours.set(accountId, await hoursOf(accountId));
    const open = hours.get(accountId) ?? null;
    const key = `${accountId} ${country}`;
    if (open !== null && !closed.has(key)) closed.set(key, hoursHold(country, open, now));
    const hold = windowHold(call, now) ?? closed.get(key);
    if (hold !== undefined) holds.set(callId, hold);
  }
  return holds;
}

/** Default pace, as carriers commonly allow an account; a trunk's own `callsPerSecond` takes precedence. */
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
  /** Time of the next dial by trunk name; trunks are as many as the operator has set up. */
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

  /** Reason for a call's wait while this route has no free channel. */
  allInUse(route: TrunkRoute | undefined): string | undefined {
    return route && `All lines of the trunk "${route.trunk}" are in use.`;
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
