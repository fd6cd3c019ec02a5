/** Blind transfer: asks the far end by REFER to call a third party, and follows its progress by NOTIFY. */

import { within } from '../../../lib/clock.ts';
import { CarrierError } from '../../carrier.ts';
import { reasonOf, type SrfRequest } from '../carrier/srf.ts';
import { type DialogPeer, sendInDialog } from '../leg/in-dialog-request.ts';

/** How long the other party may ring: as long as a Proxy lets an INVITE ring at least. RFC 3261, 16.6. */
const OUTCOME_MS_MAX = 180_000;

/** Content of a NOTIFY. */
export interface ReferNotice {
  /** Status line of the far end's call. */
  readonly sipfrag: string;
  /** Whether it is the last NOTIFY. */
  readonly isTerminated: boolean;
  /** CSeq of the REFER it refers to; undefined without an id, as for the first REFER of a dialog. */
  readonly sequence: string | undefined;
}

/**
 * Whether a NOTIFY refers to a REFER, which is the default.
 *
 * Also true without a REFER in progress: NOTIFYs of an abandoned one come late, and some peers take a 481 for the end
 * of the dialog.
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

/** One REFER and its NOTIFYs. @see RFC 3515, RFC 5589 section 6.1 */
export class Referral {
  readonly #peer: DialogPeer;
  readonly #target: string;
  readonly #outcome = Promise.withResolvers<void>();
  #isAccepted = false;
  #isRefused = false;
  /** CSeq of the REFER; known after its response. */
  #sequence: string | undefined;

  /** @param target SIP URI of the third party. */
  constructor(peer: DialogPeer, target: string) {
    this.#peer = peer;
    this.#target = target;
    this.#outcome.promise.catch(() => undefined);
  }

  /** Whether the far end has accepted the REFER. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** Whether the far end has refused the REFER, for example for lack of support. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /**
   * Resolves when the third party has answered.
   *
   * @throws {CarrierError} with the status of the far end, 408 without one.
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

  /** Handles a NOTIFY; ignores those of an earlier REFER. */
  notified({ sipfrag, isTerminated, sequence }: ReferNotice): void {
    const areKnown = sequence !== undefined && this.#sequence !== undefined;
    if (areKnown && sequence !== this.#sequence) return;
    const [, code] = /^SIP\/2\.0 (\d{3})\b/.exec(sipfrag.trimStart()) ?? [];
    const status = Number(code ?? 0);
    if (status >= 200 && status < 300) this.#outcome.resolve();
    else if (status >= 300) this.#outcome.reject(failure(status));
    // No NOTIFY follows and the outcome is unknown: the caller is still with us.
    else if (isTerminated) this.#outcome.reject(failure(408));
  }

  /** The far end has hung up. After an accepted REFER the transfer has succeeded. */
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
    // 481 and 408 mean that the call itself is gone, not that REFER is unsupported.
    this.#isRefused = status >= 300 && status !== 481 && status !== 408;
    if (status >= 300) throw failure(status);
    this.#isAccepted = true;
  }
}

function failure(sipStatus: number): CarrierError {
  return new CarrierError(`Cannot transfer the call: the far end said ${sipStatus}`, sipStatus);
}
