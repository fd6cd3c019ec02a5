/** Outgoing calls over one SIP server, each through the trunk with its number, and the channels of the trunks. */
import { randomUUID } from 'node:crypto';
import type { MediaSession } from '../../../media/audio-stream.ts';
import { type Carrier, CarrierError, type TrunkRoute } from '../../carrier.ts';
import { isDialable, isE164 } from '../../trunks/number.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import { type OutgoingCallOptions, SrfOutgoingCall } from '../leg/outgoing-call.ts';
import type { CallSecond, SecondCall } from '../transfer/transfer.ts';
import { FailoverCall } from './failover-call.ts';

/** Ringing limit of a second call: the caller listens to the ringing tone meanwhile. */
const SECOND_RINGS_MS_MAX = 30_000;

/** Call to place; `earlyMediaSink` is the RTP session that hears early media. */
export type OutgoingRequest = Parameters<Carrier['place']>[0] & {
  readonly earlyMediaSink?: MediaSession | undefined;
};

/** One attempt at it, through one trunk. */
type Attempt = OutgoingRequest & Pick<OutgoingCallOptions, 'callId' | 'responseMsMax'>;

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
  > {
  /** Trunks that may call from a number, in the order in which they are tried. */
  readonly trunksFor: (from: string) => readonly Trunk[];
  readonly channels: TrunkChannels;
  /** Called for each response of a trunk's proxy to an INVITE. */
  readonly onProxyResponse: (trunk: Trunk) => void;
  /** Called at the end of a call. */
  readonly onOver: () => void;
  /** Places second calls without a trunk of our own. */
  readonly callThrough: ((request: OutgoingRequest) => SecondCall) | undefined;
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
    if (route !== undefined) return this.#callSecondThrough(route, ours);
    const timing = { ringingTimeoutMs: SECOND_RINGS_MS_MAX };
    if (callThrough === undefined) return undefined;
    return (to, earlyMediaSink) => callThrough({ from: ours, to, earlyMediaSink, ...timing });
  }

  /** @param trunk tried first; the others with our number follow. */
  #callSecondThrough(trunk: Trunk, ours: string): CallSecond {
    const from = fromOf(ours, trunk);
    const ringingTimeoutMs = SECOND_RINGS_MS_MAX;
    return (to, earlyMediaSink) => {
      const others = this.#options.trunksFor(ours).filter(({ name }) => name !== trunk.name);
      return this.place({ from, to, earlyMediaSink, ringingTimeoutMs }, [trunk, ...others]);
    };
  }

  #placeThrough(trunk: Trunk, request: Attempt): SrfOutgoingCall {
    const { channels } = this.#options;
    const release = channels.take(trunk);
    if (release === undefined) {
      throw new CarrierError(
        `Cannot call through trunk "${trunk.name}": all lines are in use`,
        503,
      );
    }
    const call: SrfOutgoingCall = new SrfOutgoingCall({
      ...this.#options,
      ...request,
      trunk,
      callSecond: this.#callSecondThrough(trunk, request.from),
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
function fromOf(ours: string, trunk: Trunk): string {
  if (isE164(ours)) return ours;
  return trunk.callerId ?? trunk.numbers.find(isE164) ?? trunk.username ?? trunk.name;
}

/** Channels in use of each trunk, against its `maxCalls`. Shared by all SIP servers. */
export class TrunkChannels {
  /** By the trunk's name: its settings may change while calls are in progress. */
  readonly #inUse = new Map<string, number>();

  /**
   * Takes one channel of the trunk; without a trunk there is no limit.
   *
   * @returns releases the channel, safe to call twice; undefined when all channels are in use.
   */
  take(trunk: Trunk | undefined): (() => void) | undefined {
    if (trunk === undefined) return () => {};
    const inUse = this.inUse(trunk);
    if (trunk.maxCalls !== undefined && inUse >= trunk.maxCalls) return undefined;
    this.#inUse.set(trunk.name, inUse + 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#release(trunk);
      isTaken = false;
    };
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
    return { trunk: name, callsPerSecond, free, total, problem };
  }

  /** Channels of the trunk that are in use. */
  inUse({ name }: Pick<Trunk, 'name'>): number {
    return this.#inUse.get(name) ?? 0;
  }

  #release(trunk: Trunk): void {
    const inUse = this.inUse(trunk) - 1;
    if (inUse > 0) this.#inUse.set(trunk.name, inUse);
    else this.#inUse.delete(trunk.name);
  }
}
