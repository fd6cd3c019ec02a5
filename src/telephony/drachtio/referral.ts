/** A blind transfer: asks the far end by REFER to call somebody else, and follows how that goes. */
import { CarrierError } from '../carrier.ts';
import { within } from '../limit.ts';
import type { DialogPeer } from './in-dialog-request.ts';
import { sendInDialog } from './in-dialog-request.ts';
import { reasonOf } from './srf.ts';

/** How long the other party may ring: as long as a Proxy lets an INVITE ring at least. RFC 3261, 16.6. */
const OUTCOME_MS_MAX = 180_000;

/** One REFER and the NOTIFYs that tell its outcome. @see RFC 3515, RFC 5589 section 6.1 */
export class Referral {
  readonly #peer: DialogPeer;
  readonly #target: string;
  readonly #outcome = Promise.withResolvers<void>();
  #isAccepted = false;
  #isRefused = false;

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

  /** Takes the body of a NOTIFY: the status line of the call that the far end makes. */
  notified(sipfrag: string, isTerminated: boolean): void {
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
    const { status } = await sendInDialog(this.#peer, 'REFER', {
      headers: { 'Refer-To': `<${this.#target}>`, 'Referred-By': `<${dialog.local.uri}>` },
    });
    // 481 and 408 say nothing of what it can do: the call itself is gone.
    this.#isRefused = status >= 300 && status !== 481 && status !== 408;
    if (status >= 300) throw failure(status);
    this.#isAccepted = true;
  }
}

function failure(sipStatus: number): CarrierError {
  return new CarrierError(`Cannot transfer the call: the far end said ${sipStatus}`, sipStatus);
}
