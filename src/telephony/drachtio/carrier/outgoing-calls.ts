/** Outgoing calls over one SIP server, each through the trunk with its number. */
import { randomUUID } from 'node:crypto';
import { isE164 } from '../../../domain/dialing/phone-number.ts';
import { isDialable } from '../../call-headers.ts';
import { type Carrier, CarrierError } from '../../carrier.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import { type OutgoingCallOptions, SrfOutgoingCall } from '../leg/outgoing-call.ts';
import type { AcceptedTransfers } from '../transfer/far-end-moves.ts';
import type { CallSecond, SecondCall } from '../transfer/transfer.ts';
import { type AttemptLimits, FailoverCall } from './failover-call.ts';
import type { TrunkChannels } from './trunk-channels.ts';

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
