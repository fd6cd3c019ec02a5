/** An outgoing call that goes on to the next trunk when one is out of reach. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import { CarrierError, type OutgoingCall } from '../../carrier.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import type { OutgoingCallOptions, SrfOutgoingCall } from '../leg/outgoing-call.ts';
import type { SrfLeg } from '../leg/srf-leg.ts';

/** Trunks that one call is tried through; a caller waits for no more. */
const ATTEMPTS_MAX = 4;

/** How long a proxy may leave an INVITE without any response while another trunk can take the call: four transmissions. */
const RESPONSE_MS_MAX = 4_000;

/** Most time that a call waits for its turn by the `callsPerSecond` of the next trunk. */
const TURN_MS_MAX = 2_000;

/** Limits of one attempt. */
export interface AttemptLimits extends Pick<OutgoingCallOptions, 'responseMsMax' | 'mayGiveUp'> {
  readonly ringingTimeoutMs: number;
  /** Waits no longer for its turn; undefined: waits for none. */
  readonly turnMsMax: number | undefined;
}

interface FailoverCallOptions {
  readonly carrierCallSid: string;
  /** In the order of the attempts; two at least. */
  readonly trunks: readonly Trunk[];
  readonly ringingTimeoutMs: number;
  /**
   * Begins the attempt through one trunk.
   *
   * @throws {CarrierError} 503 when the trunk's lines are all in use, or its turn comes too late.
   */
  readonly begin: (trunk: Trunk, limits: AttemptLimits) => SrfOutgoingCall;
  /** Whether a trunk has a free line and no known problem. */
  readonly mayTake: (trunk: Trunk) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Attempts of one call, one after the other, with one Call-ID.
 *
 * The next trunk is tried after 503, 408, a refused connection, and silence. Any other answer is the far end's own, and
 * a telephone that has rung is not rung again.
 */
export class FailoverCall implements OutgoingCall {
  readonly carrierCallSid: string;
  readonly answered: Promise<SrfLeg>;
  readonly #options: FailoverCallOptions;
  readonly #answered = Promise.withResolvers<SrfLeg>();
  readonly #untilMs: number;
  #left: readonly Trunk[];
  #attempt: SrfOutgoingCall | undefined;
  #isCancelled = false;
  #hasRung = false;
  #onRinging: () => void = () => {};

  /** @throws {CarrierError} 503 when the lines of all trunks are in use. */
  constructor(options: FailoverCallOptions) {
    this.#options = options;
    this.carrierCallSid = options.carrierCallSid;
    this.answered = this.#answered.promise;
    this.answered.catch(() => undefined);
    this.#untilMs = options.clock.nowMs() + options.ringingTimeoutMs;
    this.#left = options.trunks.slice(0, ATTEMPTS_MAX);
    this.#next();
  }

  onRinging(listener: () => void): void {
    this.#onRinging = listener;
    if (this.#hasRung) listener();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#attempt?.cancel();
  }

  /** @throws {CarrierError} when no trunk is left that has a line. */
  #next(): void {
    const [trunk, ...left] = this.#left;
    if (trunk === undefined) throw new RangeError('Cannot place the call: no trunk is left');
    this.#left = left;
    try {
      this.#begin(trunk);
    } catch (error) {
      if (!(error instanceof CarrierError) || left.length === 0) throw error;
      this.#next();
    }
  }

  #begin(trunk: Trunk): void {
    const { begin, clock, mayTake } = this.#options;
    const left = this.#left;
    const attempt = begin(trunk, {
      ringingTimeoutMs: Math.max(1, this.#untilMs - clock.nowMs()),
      turnMsMax: this.#attempt && TURN_MS_MAX,
      ...(left.length > 0 && {
        responseMsMax: RESPONSE_MS_MAX,
        mayGiveUp: () => left.some(mayTake),
      }),
    });
    this.#attempt = attempt;
    attempt.onRinging(() => this.#ringing());
    attempt.answered.then(
      (leg) => this.#answered.resolve(leg),
      (error: unknown) => this.#failed(trunk, attempt, error),
    );
  }

  #ringing(): void {
    if (this.#hasRung) return;
    this.#hasRung = true;
    this.#onRinging();
  }

  #failed(trunk: Trunk, attempt: SrfOutgoingCall, error: unknown): void {
    const mayGoOn = !this.#isCancelled && !this.#hasRung && this.#left.length > 0;
    if (!mayGoOn || !isOutOfReach(attempt, error)) {
      this.#answered.reject(error);
      return;
    }
    const why = messageOf(error);
    this.#options.log.warn({ trunk: trunk.name, next: this.#left[0]?.name, why }, 'trunk failover');
    try {
      this.#next();
    } catch {
      // The trunks left have no line: why the first one failed says more.
      this.#answered.reject(error);
    }
  }
}

/** Our own SIP server reports an unreachable proxy as 503, and one that never answers as 408. RFC 3261, 8.1.3.1. */
function isOutOfReach(attempt: SrfOutgoingCall, error: unknown): boolean {
  if (attempt.isUnanswered) return true;
  if (!(error instanceof CarrierError)) return false;
  return error.refusedWith === 503 || error.refusedWith === 408;
}
