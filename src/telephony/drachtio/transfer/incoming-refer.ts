/** REFER of a far end: the decision, the call to the number that it names, and the NOTIFYs about it. */
import { type Clock, within } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { CarrierError, type IncomingRefer, type Leg, type OutgoingCall } from '../../carrier.ts';
import type { MediaEndpoint } from '../../media-gateway.ts';
import { reasonOf, type SrfAnswer, type SrfRequest } from '../carrier/srf.ts';
import { type DialogPeer, sendInDialog } from '../leg/in-dialog-request.ts';

/** Time for the decision. A REFER transaction has 32 s in all. */
const DECISION_MS_MAX = 10_000;

/** Time for the answer to a NOTIFY: the far end may be gone. */
const NOTIFY_MS_MAX = 2_000;

/** How long the outcome may take, as the NOTIFYs tell it: a little more than the number may ring. */
const SUBSCRIPTION_SECONDS = 60;

/** Leg to a party that takes the far end's place, on the same endpoint. */
export interface Successor extends Leg {
  /** Whether its own far end, or the party in its place, moves the call in turn. */
  readonly isMoving: boolean;
  /** The endpoint is this leg's from now on, and ends with it. @param moves of the call so far. */
  takeEndpoint(moves: number): void;
}

/** Calls a number in the far end's place. @throws {CarrierError} when no trunk takes it. */
export type CallInPlace = (
  number: string,
  endpoint: MediaEndpoint,
) => Pick<OutgoingCall, 'cancel'> & { readonly answered: Promise<Successor> };

interface ReferOptions {
  readonly number: string;
  readonly request: SrfRequest;
  readonly answer: SrfAnswer;
  /** Whether the dialog had a REFER before: NOTIFYs tell them apart then. RFC 3515, 2.4.6. */
  readonly isFurther: boolean;
  readonly peer: DialogPeer;
  readonly endpoint: MediaEndpoint;
  readonly callInPlace: CallInPlace;
  readonly log: Logger;
  /** The party has answered, and hears the agent. */
  readonly onMoved: (next: Successor) => void;
  /** The far end knows it, and may be hung up on. */
  readonly onTold: () => void;
  /** Whether the dialog is over. */
  readonly isOver: () => boolean;
}

/** One REFER of the far end, until its outcome. @see RFC 3515, RFC 4488 */
export class SrfIncomingRefer implements IncomingRefer {
  readonly number: string;
  readonly #options: ReferOptions;
  readonly #clock: Clock;
  readonly #stopped = Promise.withResolvers<never>();
  readonly #settled = Promise.withResolvers<void>();
  readonly #stopTimer: () => void;
  #state: 'asked' | 'following' | 'moved' | 'over' = 'asked';
  #call: ReturnType<CallInPlace> | undefined;
  #told: Promise<void> = Promise.resolve();

  constructor(options: ReferOptions) {
    this.#options = options;
    this.number = options.number;
    this.#clock = options.peer.clock;
    this.#stopped.promise.catch(() => undefined);
    this.#stopTimer = this.#clock.after(DECISION_MS_MAX, () => {
      this.refuse(500, 'the decision took too long');
    });
  }

  /** Whether its outcome is not known yet. */
  get isPending(): boolean {
    return this.#state === 'asked' || this.#state === 'following';
  }

  /** Resolves with the outcome. Never rejects. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  refuse(sipStatus: number, why: string): void {
    if (this.#state !== 'asked') return;
    this.#end('over');
    refuseRefer(this.#options.answer, sipStatus, why);
    this.#options.log.info({ sipStatus, why }, 'refused a REFER of the far end');
  }

  async follow(): Promise<void> {
    if (this.#state !== 'asked') throw failure('the call is over', 481);
    this.#state = 'following';
    this.#stopTimer();
    const { answer, endpoint, onMoved, onTold } = this.#options;
    answer.send(202, this.#isQuiet ? { headers: { 'Refer-Sub': 'false' } } : {});
    void this.#tell(100);
    const restore = endpoint.prepareMove();
    try {
      const next = await this.#reach();
      this.#end('moved');
      onMoved(next);
    } catch (error) {
      await this.#failed(restore, error);
      throw error;
    }
    await this.#tell(200);
    onTold();
  }

  /** Gives up: the call is over. Safe to call twice. */
  stop(): void {
    this.refuse(481, 'the call is over');
    if (this.#state !== 'following') return;
    this.#call?.cancel();
    this.#stopped.reject(failure('the call is over', 487));
    this.#settled.resolve();
  }

  /** Whether the far end wants no NOTIFY. RFC 4488, 4. */
  get #isQuiet(): boolean {
    return /^\s*false\b/i.test(this.#options.request.get('refer-sub') ?? '');
  }

  async #reach(): Promise<Successor> {
    const { callInPlace, endpoint } = this.#options;
    this.#call = callInPlace(this.number, endpoint);
    const next = await Promise.race([this.#stopped.promise, this.#call.answered]);
    return next;
  }

  async #failed(restore: () => Promise<void>, error: unknown): Promise<void> {
    const { log } = this.#options;
    await restore().catch((cause: unknown) => {
      log.warn({ why: reasonOf(cause) }, 'could not go on with the far end after its REFER failed');
    });
    this.#end('over');
    const { refusedWith = null, sipStatus = 503 } = error instanceof CarrierError ? error : {};
    await this.#tell(refusedWith ?? sipStatus);
  }

  #end(state: 'moved' | 'over'): void {
    this.#state = state;
    this.#stopTimer();
    this.#settled.resolve();
  }

  /** One NOTIFY after the other. Never rejects. */
  #tell(sipStatus: number): Promise<void> {
    if (!this.#isQuiet) this.#told = this.#told.then(() => this.#notify(sipStatus));
    return this.#told;
  }

  async #notify(sipStatus: number): Promise<void> {
    const { peer, request, isFurther, isOver, log } = this.#options;
    if (isOver()) return;
    const isLast = sipStatus >= 200;
    const state = isLast
      ? 'terminated;reason=noresource'
      : `active;expires=${SUBSCRIPTION_SECONDS}`;
    const [sequence] = /\d+/.exec(request.get('cseq') ?? '') ?? [];
    const notice = {
      headers: {
        Event: isFurther ? `refer;id=${sequence}` : 'refer',
        'Subscription-State': state,
        'Content-Type': 'message/sipfrag;version=2.0',
      },
      body: `SIP/2.0 ${sipStatus} ${PHRASES[sipStatus] ?? 'Failed'}\r\n`,
    };
    try {
      await within(this.#clock, NOTIFY_MS_MAX, sendInDialog(peer, 'NOTIFY', notice));
    } catch (error) {
      log.debug({ why: reasonOf(error) }, 'NOTIFY of a REFER was not answered');
    }
  }
}

/** Reason phrases of the usual outcomes. */
const PHRASES: Readonly<Record<number, string>> = {
  100: 'Trying',
  200: 'OK',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  480: 'Temporarily Unavailable',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  503: 'Service Unavailable',
  603: 'Decline',
};

/** Refuses a REFER. @param why in plain English, without quotes and numbers. */
export function refuseRefer(answer: SrfAnswer, sipStatus: number, why: string): void {
  answer.send(sipStatus, { headers: { Warning: `399 offhook "${why}"` } });
}

function failure(why: string, sipStatus: number): CarrierError {
  return new CarrierError(`Cannot follow the REFER: ${why}`, sipStatus);
}
