/** One outgoing call, from INVITE to its end. */
import type { Call, EndReason } from '../../domain/call/call.ts';
import type { Failure } from '../../domain/call/call-life.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  type Carrier,
  CarrierError,
  type Leg,
  type OutgoingCall,
} from '../../telephony/carrier.ts';
import type { LiveCall } from '../call-registry.ts';
import { endReasonOfUnanswered, failureBecause, failureOf } from '../session/end-reason.ts';
import { endUnanswered, type Held, holdCall } from '../session/hold-call.ts';

/** Longest wait for the final response after a CANCEL; a SIP transaction takes 32 s at most. */
const SETTLE_MS_MAX = 40_000;

/** How long a far end may take to agree to a CANCEL when the server stops. */
const CANCEL_MS_MAX = 2000;

/** The call is on record as ringing. */
interface OutboundCallOptions extends Held {
  readonly carrier: Pick<Carrier, 'place'>;
  readonly ringingTimeoutMs: number;
  readonly clock: Clock;
}

/** An outgoing call from INVITE until it is answered or ends; then `CallSession` runs it. */
export class OutboundCall implements LiveCall {
  readonly callId: string;
  readonly #options: OutboundCallOptions;
  readonly #abandoned = Promise.withResolvers<undefined>();
  readonly #over = Promise.withResolvers<void>();
  #call: Call;
  #outgoing: OutgoingCall | undefined;
  /** Why it ends, where that was our side's will. */
  #reason: EndReason | undefined;
  #why: string | undefined;

  constructor(options: OutboundCallOptions) {
    this.callId = options.call.id;
    this.#options = options;
    this.#call = options.call;
  }

  /** Dials, and holds the call until it is over and on record. Never rejects. */
  async run(): Promise<void> {
    const { parts, registry } = this.#options;
    registry.add(this);
    try {
      const leg = await this.#dial();
      // A cancellation and an answer may come at the same moment: there is no await before the session is registered.
      if (leg !== undefined && this.#reason === undefined) {
        await holdCall({ ...this.#options, call: this.#call, leg });
      } else if (leg !== undefined) {
        this.#hangUpLate(Promise.resolve(leg));
        await endUnanswered(parts, this.#call, this.#ownEnd());
      }
    } finally {
      registry.delete(this.callId);
      this.#over.resolve();
    }
  }

  /** CANCEL before the answer, recorded as `no_answer`. */
  hangUp(): void {
    this.#cancel('no_answer', 'The call was hung up before it was answered.');
  }

  async end(reason: string): Promise<void> {
    this.#options.parts.log.warn({ callId: this.callId, reason }, 'dialling given up');
    this.#cancel('error', `The server ended the call: ${reason}.`);
    const stop = this.#options.clock.after(CANCEL_MS_MAX, () => this.#abandoned.resolve(undefined));
    await this.#over.promise;
    stop();
  }

  /** @returns undefined without an answer in time; the call is over and recorded then. */
  async #dial(): Promise<Leg | undefined> {
    const { carrier, parts, clock, ringingTimeoutMs } = this.#options;
    const { from, to, overrides } = this.#call;
    const { sipHeaders: headers = {} } = overrides;
    const stopWaiting = clock.after(ringingTimeoutMs + SETTLE_MS_MAX, () => {
      this.#cancel('error', 'The carrier did not answer the CANCEL in time.');
      this.#abandoned.resolve(undefined);
    });
    try {
      this.#outgoing = carrier.place({ from, to, ringingTimeoutMs, headers });
      const answer = Promise.race([this.#outgoing.answered, this.#abandoned.promise]);
      const [leg] = await Promise.all([answer, this.#keepSid(this.#outgoing.carrierCallSid)]);
      if (leg !== undefined) return leg;
      this.#hangUpLate(this.#outgoing.answered);
      await endUnanswered(parts, this.#call, this.#ownEnd());
    } catch (error) {
      await this.#failed(error);
    } finally {
      stopWaiting();
    }
    return undefined;
  }

  /** Hangs up on an answer that crossed our CANCEL or came too late. */
  #hangUpLate(answered: Promise<Leg>): void {
    answered
      .then((late) => late.hangUp())
      .catch((error: unknown) => {
        this.#options.parts.log.debug({ callId: this.callId, err: error }, 'no late answer');
      });
  }

  #failed(error: unknown): Promise<void> {
    const { parts } = this.#options;
    const sipStatus = error instanceof CarrierError ? error.sipStatus : 500;
    const reason = this.#reason ?? endReasonOfUnanswered(sipStatus);
    const facts = { callId: this.callId, sipStatus, endReason: reason };
    const cause = error instanceof CarrierError ? { why: error.message } : { err: error };
    if (reason === 'error') parts.log.warn({ ...facts, ...cause }, 'outgoing call failed');
    else parts.log.info(facts, 'outgoing call was not answered');
    const { sipStatus: refusedWith, reason: why } = failureOf(error);
    const failure = { reason: this.#why ?? why, sipStatus: refusedWith };
    return endUnanswered(parts, this.#call, { reason, failure });
  }

  /** The end of a call that our side gave up without hearing of the far end. */
  #ownEnd(): { readonly reason: EndReason; readonly failure: Failure } {
    const failure = failureBecause(this.#why ?? 'The server failed.');
    return { reason: this.#reason ?? 'error', failure };
  }

  #cancel(reason: EndReason, why: string): void {
    this.#reason ??= reason;
    this.#why ??= why;
    try {
      this.#outgoing?.cancel();
    } catch (error) {
      this.#options.parts.log.warn({ callId: this.callId, err: error }, 'could not cancel');
      this.#abandoned.resolve(undefined);
    }
  }

  /** Saves the Call-ID for recovery after a crash; a failed write is made up by the next change. */
  async #keepSid(carrierCallSid: string): Promise<void> {
    this.#call = { ...this.#call, carrierCallSid };
    try {
      await this.#options.parts.calls.update(this.#call, []);
    } catch (error) {
      this.#options.parts.log.warn({ callId: this.callId, err: error }, 'Call-ID not kept yet');
    }
  }
}
