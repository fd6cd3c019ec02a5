/** A blind transfer: asks the far end by REFER to call somebody else, and follows how that goes. */
import { CarrierError } from '../../carrier.ts';
import { within } from '../../limit.ts';
import { reasonOf, type SrfRequest } from '../carrier/srf.ts';
import { type DialogPeer, sendInDialog } from '../leg/in-dialog-request.ts';

/** How long the other party may ring: as long as a Proxy lets an INVITE ring at least. RFC 3261, 16.6. */
const OUTCOME_MS_MAX = 180_000;

/** What a NOTIFY tells. */
export interface ReferNotice {
  /** The status line of the call that the far end makes. */
  readonly sipfrag: string;
  /** Whether it is the last one. */
  readonly isTerminated: boolean;
  /** CSeq of the REFER that it is about; undefined where it does not say, as the first of a dialog need not. */
  readonly sequence: string | undefined;
}

/**
 * Whether a NOTIFY is about a REFER; one that does not say what it is about is.
 *
 * None has to be under way: of one that was given up some come late, and 481 would end the call with peers that take it for the
 * dialog's.
 */
export function isOfRefer(notify: SrfRequest): boolean {
  const [event = ''] = (notify.get('event') ?? 'refer').split(';', 1);
  return event.trim().toLowerCase() === 'refer';
}

/** Reads a NOTIFY. @see RFC 3515 section 2.4.6 */
export function noticeOf(notify: SrfRequest): ReferNotice {
  const [, sequence] = /;\s*id\s*=\s*(\d+)/i.exec(notify.get('event') ?? '') ?? [];
  const state = notify.get('subscription-state') ?? '';
  const isTerminated = /^\s*terminated\b/i.test(state);
  return { sipfrag: notify.body ?? '', isTerminated, sequence };
}

/** One REFER and the NOTIFYs that tell its outcome. @see RFC 3515, RFC 5589 section 6.1 */
export class Referral {
  readonly #peer: DialogPeer;
  readonly #target: string;
  readonly #outcome = Promise.withResolvers<void>();
  #isAccepted = false;
  #isRefused = false;
  /** Its CSeq; known once it is answered. */
  #sequence: string | undefined;

  /** @param target SIP URI of who is to be called. */
  constructor(peer: DialogPeer, target: string) {
    this.#peer = peer;
    this.#target = target;
    this.#outcome.promise.catch(() => undefined);
  }

  /** Whether the far end has agreed to try. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** Whether the far end was asked and will not try, as one that does not do this. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /**
   * Resolves when the other party has answered.
   *
   * @throws {CarrierError} with the status that the far end gave, 408 when it gave none.
   */
  async run(): Promise<void> {
    const { clock } = this.#peer;
    try {
      await this.#refer();
      await within(clock, OUTCOME_MS_MAX, this.#outcome.promise);
    } catch (error) {
      throw error instanceof CarrierError
        ? error
        : new CarrierError(`Cannot transfer the call: ${reasonOf(error)}`, 408, { cause: error });
    }
  }

  /** What is told late of a REFER before this one changes nothing. */
  notified({ sipfrag, isTerminated, sequence }: ReferNotice): void {
    const areKnown = sequence !== undefined && this.#sequence !== undefined;
    if (areKnown && sequence !== this.#sequence) return;
    const [, code] = /^SIP\/2\.0 (\d{3})\b/.exec(sipfrag.trimStart()) ?? [];
    const status = Number(code ?? 0);
    if (status >= 200 && status < 300) this.#outcome.resolve();
    else if (status >= 300) this.#outcome.reject(failure(status));
    // Nothing more will come, and whether anybody answered is unknown: the caller is still with us.
    else if (isTerminated) this.#outcome.reject(failure(408));
  }

  /** The far end has left: by its own word it was busy with the transfer, so it has succeeded. */
  farEndLeft(): void {
    if (this.#isAccepted) this.#outcome.resolve();
    else this.stop();
  }

  /** Gives up: the call is over. */
  stop(): void {
    this.#outcome.reject(new CarrierError('Cannot transfer the call: it is over', 481));
  }

  async #refer(): Promise<void> {
    const { dialog } = this.#peer;
    const response = await sendInDialog(this.#peer, 'REFER', {
      headers: { 'Refer-To': `<${this.#target}>`, 'Referred-By': `<${dialog.local.uri}>` },
    });
    const { status } = response;
    this.#sequence = /^\s*(\d+)/.exec(response.get('cseq') ?? '')?.[1];
    // 481 and 408 say nothing of what it can do: the call itself is gone.
    this.#isRefused = status >= 300 && status !== 481 && status !== 408;
    if (status >= 300) throw failure(status);
    this.#isAccepted = true;
  }
}

function failure(sipStatus: number): CarrierError {
  return new CarrierError(`Cannot transfer the call: the far end said ${sipStatus}`, sipStatus);
}
