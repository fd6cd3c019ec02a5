/** Outgoing calls over one SIP server, each through the trunk with its number; channels in use and pace of the trunks. */
import { randomUUID } from 'node:crypto';
import { isE164 } from '../../../domain/dialing/phone-number.ts';
import { isDialable } from '../../call-headers.ts';
import { type Carrier, CarrierError, type TrunkRoute } from '../../carrier.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import { type OutgoingCallOptions, SrfOutgoingCall } from '../leg/outgoing-call.ts';
import type { AcceptedTransfers } from '../transfer/far-end-moves.ts';
import type { CallSecond, SecondCall } from '../transfer/transfer.ts';
import { type AttemptLimits, FailoverCall } from './failover-call.ts';

/** Ringing limit of a second call: the caller listens to the ringing tone meanwhile. */
const SECOND_RINGS_MS_MAX = 30_000;

/** Call to place. */
export type OutgoingRequest = Parameters<Carrier['place']>[0] &
  Pick<OutgoingCallOptions, 'near' | 'isEarlyMediaHeard' | 'inPlaceOf'>;

/** One attempt at it, through one trunk. */
type Attempt = OutgoingRequest & Partial<AttemptLimits> & Pick<OutgoingCallOptions, 'callId'>;

/** A call that was placed, through one trunk or several one after the other. */
export type PlacedCall = Pick<
  SrfOutgoingCall,
  'carrierCallSid' | 'answered' | 'onRinging' | 'cancel'
>;

/** Constructor parameters of `OutgoingCalls`. */
export interface OutgoingCallsOptions
  extends Pick<
    OutgoingCallOptions,
    | 'srf'
    | 'server'
    | 'isReportedByEngine'
    | 'media'
    | 'addresses'
    | 'contacts'
    | 'clock'
    | 'log'
    | 'journal'
    | 'answerChallenge'
    | 'holdMusic'
  > {
  /** Trunks that may call from a number, in the order in which they are tried. */
  readonly trunksFor: (from: string) => readonly Trunk[];
  /** The trunk of that name as it is set up now. */
  readonly trunkNamed: (name: string) => Trunk | undefined;
  /** Whether a trunk has a free line and no known problem. */
  readonly mayTake: (trunk: Trunk) => boolean;
  readonly channels: TrunkChannels;
  /** Called for each response of a trunk's proxy to an INVITE. */
  readonly onProxyResponse: (trunk: Trunk) => void;
  /** Called at the end of a call. */
  readonly onOver: () => void;
  /** Places second calls without a trunk of our own. */
  readonly callThrough?: ((request: OutgoingRequest) => SecondCall) | undefined;
}

/** Places calls through trunks and counts their channels in use. */
export class OutgoingCalls {
  readonly #options: OutgoingCallsOptions;
  readonly #calls = new Set<SrfOutgoingCall>();

  constructor(options: OutgoingCallsOptions) {
    this.#options = options;
  }

  /** From their INVITE to their end. */
  get all(): readonly SrfOutgoingCall[] {
    return [...this.#calls];
  }

  /**
   * Places a call through the first of the trunks that can be reached.
   *
   * @throws {CarrierError} 404 without a trunk, 503 when their channels are all in use.
   */
  place(request: OutgoingRequest, trunks: readonly Trunk[]): PlacedCall {
    if (!isDialable(request.to)) throw new CarrierError('Cannot place the call: to no number', 484);
    const [first, ...others] = trunks;
    // Numbers stay out of the messages, since errors are logged.
    if (first === undefined) {
      throw new CarrierError('Cannot place the call: no trunk has the number it is from', 404);
    }
    const callId = randomUUID();
    if (others.length === 0) return this.#placeThrough(first, { ...request, callId });
    return new FailoverCall({
      ...this.#options,
      carrierCallSid: callId,
      trunks,
      ringingTimeoutMs: request.ringingTimeoutMs,
      begin: (trunk, limits) => this.#placeThrough(trunk, { ...request, ...limits, callId }),
    });
  }

  /**
   * Places second calls of a call.
   *
   * @param ours our number on that call, also the caller of the second one.
   * @param trunk of that call, used if no trunk has the number.
   * @returns undefined without a trunk.
   */
  secondFor(ours: string, trunk: Trunk | undefined): CallSecond | undefined {
    const { trunksFor, callThrough } = this.#options;
    const [route = trunk] = trunksFor(ours);
    if (route !== undefined) return this.#callSecondThrough(route.name, ours);
    const timing = { ringingTimeoutMs: SECOND_RINGS_MS_MAX };
    if (callThrough === undefined) return undefined;
    return (to, sound) => callThrough({ from: ours, to, ...sound, ...timing });
  }

  /**
   * Moves of a call that its far end asks for.
   *
   * @param ours as for `secondFor`.
   * @param trunk of that call; the others with our number are not used, since the endpoint is made for this one.
   * @returns undefined where the trunk accepts none.
   */
  movesOf(ours: string, trunk: Trunk | undefined): AcceptedTransfers | undefined {
    if (trunk?.acceptTransfers !== true) return undefined;
    return {
      trunk,
      callInPlace: (to, inPlaceOf) => {
        const now = this.#options.trunkNamed(trunk.name);
        const request = { from: fromOf(ours, now), to, ringingTimeoutMs: SECOND_RINGS_MS_MAX };
        return this.place({ ...request, inPlaceOf }, now === undefined ? [] : [now]);
      },
    };
  }

  /** @param name of the trunk that is tried first, if it still exists; the others with our number follow. */
  #callSecondThrough(name: string, ours: string): CallSecond {
    const { trunkNamed, trunksFor } = this.#options;
    const ringingTimeoutMs = SECOND_RINGS_MS_MAX;
    return (to, sound) => {
      const others = trunksFor(ours).filter((trunk) => trunk.name !== name);
      const trunks = [trunkNamed(name) ?? [], others].flat();
      const from = fromOf(ours, trunks[0]);
      return this.place({ from, to, ...sound, ringingTimeoutMs }, trunks);
    };
  }

  #placeThrough(trunk: Trunk, request: Attempt): SrfOutgoingCall {
    const { channels, clock } = this.#options;
    const busy = (why: string) =>
      new CarrierError(`Cannot call through trunk "${trunk.name}": ${why}`, 503);
    const release = channels.take(trunk);
    if (release === undefined) throw busy('all lines are in use');
    const { turnMsMax } = request;
    const turnMs = channels.takeTurn(trunk, clock.nowMs(), turnMsMax);
    if (turnMs === undefined) {
      release();
      throw busy('its calls per second are used up');
    }
    const call: SrfOutgoingCall = new SrfOutgoingCall({
      ...this.#options,
      ...request,
      trunk,
      // `turnMs` is the wait of the dialler's calls; every other caller has waited before, or cannot.
      delayMs: turnMsMax === undefined ? 0 : turnMs,
      callSecond: this.#callSecondThrough(trunk.name, request.from),
      acceptedTransfers: this.movesOf(request.from, trunk),
      onResponse: () => this.#options.onProxyResponse(trunk),
      onOver: () => {
        release();
        this.#calls.delete(call);
        this.#options.onOver();
      },
    });
    this.#calls.add(call);
    return call;
  }
}

/** Caller number that the carrier accepts, even if the first call was to a name. */
function fromOf(ours: string, trunk: Trunk | undefined): string {
  if (trunk === undefined || isE164(ours)) return ours;
  return trunk.callerId ?? trunk.numbers.find(isE164) ?? trunk.username ?? trunk.name;
}

/** Channels in use of each trunk, against its `maxCalls`, and its pace, by its `callsPerSecond`. Shared by all SIP servers. */
export class TrunkChannels {
  /** Channels by the trunk's name: its settings may change while calls are in progress. */
  readonly #inUse = new Map<string, number>();
  /** Channels by the settings that their calls began with. */
  readonly #taken = new Map<Trunk, number>();
  /** When the next call may begin, by the trunk's name; entries of the past are dropped. */
  readonly #nextDialAtMs = new Map<string, number>();

  /**
   * Takes one channel of the trunk; without a trunk there is no limit, nor for a call that replaces another one.
   *
   * @returns releases the channel, safe to call twice; undefined when all channels are in use.
   */
  take(trunk: Trunk | undefined, isReplacing = false): (() => void) | undefined {
    if (trunk === undefined) return () => {};
    const inUse = this.inUse(trunk);
    const isFull = trunk.maxCalls !== undefined && inUse >= trunk.maxCalls;
    if (isFull && !isReplacing) return undefined;
    add(this.#inUse, trunk.name, 1);
    add(this.#taken, trunk, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#release(trunk);
      isTaken = false;
    };
  }

  /** Settings of the calls in progress, each once. */
  get trunks(): readonly Trunk[] {
    return [...this.#taken.keys()];
  }

  /**
   * Takes the next turn of a trunk that has a `callsPerSecond`.
   *
   * @returns milliseconds until the turn; undefined, and no turn is taken, when that is more than `waitMsMax`.
   */
  takeTurn(
    { name, callsPerSecond }: Trunk,
    nowMs: number,
    waitMsMax = Number.POSITIVE_INFINITY,
  ): number | undefined {
    if (callsPerSecond === undefined) return 0;
    const turnAtMs = Math.max(nowMs, this.#nextDialAtMs.get(name) ?? 0);
    if (turnAtMs - nowMs > waitMsMax) return undefined;
    for (const [each, atMs] of this.#nextDialAtMs) {
      if (atMs <= nowMs) this.#nextDialAtMs.delete(each);
    }
    this.#nextDialAtMs.set(name, turnAtMs + 1000 / callsPerSecond);
    return turnAtMs - nowMs;
  }

  /**
   * Route through a trunk.
   *
   * @param state.problem reason why the trunk takes no calls; undefined while it takes them.
   * @param state.isUncertain true when only a call can show whether the trunk is alive: it has one channel then.
   */
  routeThrough(
    trunk: Trunk,
    {
      problem,
      isUncertain = false,
    }: { readonly problem?: string | undefined; readonly isUncertain?: boolean } = {},
  ): TrunkRoute {
    const { name, callsPerSecond, maxCalls: total = Number.POSITIVE_INFINITY } = trunk;
    const usable = isUncertain ? 1 : total;
    const free = problem === undefined ? Math.max(0, usable - this.inUse(trunk)) : 0;
    const nextDialAtMs = this.#nextDialAtMs.get(name);
    return { trunk: name, callsPerSecond, nextDialAtMs, free, total, problem };
  }

  /** Channels of the trunk that are in use. */
  inUse({ name }: Pick<Trunk, 'name'>): number {
    return this.#inUse.get(name) ?? 0;
  }

  #release(trunk: Trunk): void {
    add(this.#inUse, trunk.name, -1);
    add(this.#taken, trunk, -1);
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
