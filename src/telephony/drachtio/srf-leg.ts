/** An answered call over drachtio: its SIP dialog and its media endpoint, which live and die together. */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AudioStream } from '../../media/audio-stream.ts';
import type { Leg, ReleaseCause } from '../carrier.ts';
import { CarrierError } from '../carrier.ts';
import type { MediaEndpoint } from '../media-gateway.ts';
import { isDialable } from '../number.ts';
import type { DialogBook } from './dialog-book.ts';
import { DTMF_TYPES, digitOf, isDtmf } from './dtmf-info.ts';
import type { DialogPeer } from './in-dialog-request.ts';
import { sendInDialog } from './in-dialog-request.ts';
import { Negotiation } from './negotiation.ts';
import { Referral } from './referral.ts';
import type { SrfAnswer, SrfClient, SrfDialog, SrfRequest } from './srf.ts';
import { reasonOf } from './srf.ts';

export interface SrfLegOptions {
  readonly srf: SrfClient;
  readonly dialog: SrfDialog;
  readonly endpoint: MediaEndpoint;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where numbers of a transfer live: the domain behind the `@`. */
  readonly referDomain: string;
  /** True when our 200 held an offer, so that the far end's description is in its ACK. */
  readonly isAnswerAwaited: boolean;
  /** Where the call is written down for a process after this one. */
  readonly book?: DialogBook | undefined;
  /** Called once, when the leg has ended. */
  readonly onOver: () => void;
}

export class SrfLeg implements Leg {
  readonly #options: SrfLegOptions;
  readonly #peer: DialogPeer;
  readonly #negotiation: Negotiation;
  readonly #closed = Promise.withResolvers<void>();
  readonly #forget: (() => void) | undefined;
  #cause: ReleaseCause | undefined;
  #hangingUp: { readonly cause: ReleaseCause; readonly done: Promise<void> } | undefined;
  #referral: Referral | undefined;
  #isTransferred = false;
  #onReleased: (cause: ReleaseCause) => void = () => {};
  #onDigit: (digit: string) => void = () => {};

  constructor(options: SrfLegOptions) {
    const { dialog, endpoint } = options;
    this.#options = options;
    this.#peer = options;
    this.#negotiation = new Negotiation(options);
    this.#forget = options.book?.keep(dialog, endpoint.channels ?? []);
    dialog.on('info', (request, answer) => this.#onInfo(request, answer));
    dialog.on('notify', (request, answer) => this.#onNotify(request, answer));
    dialog.on('destroy', (request) => this.#onBye(request));
    // Whoever may send REFER could make us pay for a call to anywhere.
    dialog.on('refer', (_, answer) => answer.send(603));
    dialog.on('message', (_, answer) => answer.send(405));
    endpoint.audio.onEvent(({ kind }) => {
      if (kind === 'media-lost') void this.#release({ kind: 'broken', reason: 'no audio comes' });
    });
  }

  get audio(): AudioStream {
    return this.#options.endpoint.audio;
  }

  /** Resolves when sound can flow. @throws {MediaError} when it never will. */
  get negotiated(): Promise<void> {
    return this.#negotiation.settled;
  }

  onReleased(listener: (cause: ReleaseCause) => void): void {
    this.#onReleased = listener;
    if (this.#cause !== undefined) listener(this.#cause);
  }

  onDigit(listener: (digit: string) => void): void {
    this.#onDigit = listener;
  }

  record(path: string): void {
    this.#options.endpoint.record(path);
  }

  hangUp(): Promise<void> {
    return this.#release({ kind: 'near-end' });
  }

  async transfer(number: string): Promise<void> {
    if (this.#cause !== undefined || this.#hangingUp !== undefined) {
      throw new CarrierError('Cannot transfer the call: it is over', 481);
    }
    if (this.#referral !== undefined) {
      throw new CarrierError('Cannot transfer the call: another transfer is in progress', 491);
    }
    if (!isDialable(number)) {
      throw new CarrierError('Cannot transfer the call: the target is not a number', 484);
    }
    const target = `sip:${number}@${this.#options.referDomain}`;
    this.#referral = new Referral(this.#peer, target);
    try {
      await this.#referral.run();
      this.#isTransferred = true;
    } finally {
      this.#referral = undefined;
    }
    await this.#release({ kind: 'transferred' });
  }

  /** Says BYE, once, and ends the leg for the cause of whoever was first. */
  #release(cause: ReleaseCause): Promise<void> {
    if (this.#cause !== undefined) return this.#closed.promise;
    this.#hangingUp ??= { cause, done: this.#sayBye(cause) };
    return this.#hangingUp.done;
  }

  async #sayBye(cause: ReleaseCause): Promise<void> {
    try {
      await sendInDialog(this.#peer, 'BYE');
    } catch (error) {
      // The far end does not agree or is not there: the leg is over for us all the same.
      this.#options.log.debug({ why: reasonOf(error) }, 'nobody answered BYE');
    }
    this.#finish(cause);
    await this.#closed.promise;
  }

  #onBye(request: SrfRequest): void {
    const isTransferred = this.#isTransferred || this.#referral?.isAccepted === true;
    this.#referral?.farEndLeft();
    // Where our own BYE is under way, the two have crossed and ours was meant.
    this.#finish(this.#hangingUp?.cause ?? causeOf(request, isTransferred));
  }

  #finish(cause: ReleaseCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    const { srf, dialog, endpoint, log, onOver } = this.#options;
    srf.removeDialog(dialog);
    this.#forget?.();
    this.#negotiation.stop();
    this.#onReleased(cause);
    endpoint
      .close()
      .catch((error: unknown) => log.warn({ why: reasonOf(error) }, 'could not close a port'))
      .finally(() => {
        onOver();
        this.#closed.resolve();
      });
  }

  #onInfo(request: SrfRequest, answer: SrfAnswer): void {
    const body = request.body ?? '';
    const type = request.get('content-type') ?? '';
    if (body !== '' && !isDtmf(type)) {
      answer.send(415, { headers: { Accept: DTMF_TYPES.join(', ') } });
      return;
    }
    answer.send(200);
    const digit = digitOf(body);
    if (digit !== undefined) this.#onDigit(digit);
  }

  #onNotify(request: SrfRequest, answer: SrfAnswer): void {
    answer.send(200);
    const state = request.get('subscription-state') ?? '';
    this.#referral?.notified(request.body ?? '', /^\s*terminated\b/i.test(state));
  }
}

/** A BYE that comes after a transfer was agreed to is how many carriers say that it worked. */
function causeOf(bye: SrfRequest, isTransferred: boolean): ReleaseCause {
  if (bye.source === 'application') {
    return { kind: 'broken', reason: bye.get('reason') ?? 'the far end is gone' };
  }
  return isTransferred ? { kind: 'transferred' } : { kind: 'far-end' };
}
