/** An answered call over drachtio: its SIP dialog and its media endpoint, which live and die together. */
import type { AudioStream } from '../../../media/audio-stream.ts';
import {
  CarrierError,
  type ReleaseCause,
  type ThreeWayCall,
  type TransferOptions,
  type TransferOutcome,
} from '../../carrier.ts';
import { LinkedAudio, type MediaEndpoint } from '../../media-gateway.ts';
import type { JournalEntry, OpenDialogJournal } from '../carrier/open-dialog-journal.ts';
import type { OrphanedLeg } from '../carrier/orphaned-calls.ts';
import { reasonOf, type SrfAnswer, type SrfRequest } from '../carrier/srf.ts';
import { isOfRefer, noticeOf } from '../transfer/referral.ts';
import { ThirdParty, type ThirdPartyOptions } from '../transfer/third-party.ts';
import type { SecondLeg } from '../transfer/transfer.ts';
import { answerInfo, DtmfMethods } from './dtmf-methods.ts';
import { type DialogPeer, isDialogGone, sendInDialog } from './in-dialog-request.ts';
import { Negotiation } from './negotiation.ts';

/** The far end has understood by then, or is not there; for SIP the session is over with our BYE. RFC 3261, 15.1.1. */
const BYE_PATIENCE_MS = 2_000;

export interface SrfLegOptions extends ThirdPartyOptions {
  /** True when our 200 held an offer, so that the far end's description is in its ACK. */
  readonly isAnswerAwaited: boolean;
  /** True when nothing but an INVITE says where the far end is: its ACK or its first packet has to follow. */
  readonly isConfirmationAwaited?: boolean;
  /** Where the call is written down for a process after this one. */
  readonly journal?: OpenDialogJournal | undefined;
  /** What was written down of it before it began. */
  readonly expected?: JournalEntry | undefined;
  /** Called once, when the leg has ended. */
  readonly onOver: () => void;
}

export class SrfLeg implements SecondLeg, OrphanedLeg {
  readonly audio: AudioStream;
  readonly #options: SrfLegOptions;
  readonly #peer: DialogPeer;
  readonly #negotiation: Negotiation;
  readonly #confirmed = Promise.withResolvers<void>();
  #isConfirmed = false;
  readonly #over = Promise.withResolvers<void>();
  /** Later than the cause is told: the recording is whole. */
  readonly #closed = Promise.withResolvers<void>();
  readonly #entry: JournalEntry | undefined;
  readonly #thirdParty: ThirdParty;
  readonly #dtmf = new DtmfMethods();
  #cause: ReleaseCause | undefined;
  #hangingUp: { readonly cause: ReleaseCause; readonly done: Promise<void> } | undefined;
  #closing: Promise<void> | undefined;
  #isOver = false;
  #isOrphaned = false;
  #onReleased: (cause: ReleaseCause) => void = () => {};
  #onDigit: (digit: string) => void = () => {};

  constructor(options: SrfLegOptions) {
    const { dialog, endpoint } = options;
    this.#options = options;
    this.audio = new LinkedAudio(
      endpoint.audio,
      (event) => event.kind !== 'digit' || this.#dtmf.byRtp(event.digit, options.clock.nowMs()),
    );
    this.#peer = options;
    this.#negotiation = new Negotiation(options);
    this.#entry = options.journal?.answered(dialog, endpoint.channels ?? [], options.expected);
    this.#thirdParty = new ThirdParty(options, {
      isEnding: () => this.#cause !== undefined || this.#hangingUp !== undefined,
      pressed: (digit) => this.#onDigit(digit),
      end: (cause) => void this.#release(cause),
    });
    dialog.on('info', (request, answer) => this.#onInfo(request, answer));
    dialog.on('notify', (request, answer) => this.#onNotify(request, answer));
    dialog.on('destroy', (request) => this.#onBye(request));
    dialog.on('ack', () => this.#confirm());
    // Whoever may send REFER could make us pay for a call to anywhere.
    dialog.on('refer', (_, answer) => answer.send(603));
    dialog.on('message', (_, answer) => answer.send(405));
    if (!options.isConfirmationAwaited) this.#confirm();
    this.#confirmed.promise.catch(() => undefined);
    endpoint.audio.onEvent(({ kind }) => {
      if (kind === 'media-arrived') this.#confirm();
      if (kind === 'media-lost') void this.#release({ kind: 'broken', reason: 'no audio comes' });
    });
    // The far end answers our 200 with sound before the SIP server has told us that the 200 is out.
    if (endpoint.session.hasArrived) this.#confirm();
  }

  get endpoint(): MediaEndpoint {
    return this.#options.endpoint;
  }

  /** Resolves when sound can flow. @throws {MediaError} when it never will. */
  get negotiated(): Promise<void> {
    return this.#negotiation.settled;
  }

  /**
   * Resolves when the far end has shown that it is there. SIP itself ends a call whose ACK never comes, after 32 s.
   *
   * @throws {CarrierError} 487 when the call ended before that.
   */
  get confirmed(): Promise<void> {
    return this.#confirmed.promise;
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
    return this.#closing === undefined ? this.#release({ kind: 'near-end' }) : this.#closed.promise;
  }

  async transfer(number: string, options: TransferOptions = {}): Promise<TransferOutcome> {
    const outcome = await this.#thirdParty.transfer(number, options);
    if (outcome === 'referred') {
      void this.#release({ kind: 'transferred' });
      await this.#over.promise;
    }
    return outcome;
  }

  bringIn(number: string, options: TransferOptions = {}): Promise<ThreeWayCall> {
    return this.#thirdParty.bringIn(number, options);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  orphan(): void {
    this.#isOrphaned = true;
    // The answer to our BYE would have come over the connection that is lost.
    if (this.#hangingUp !== undefined) this.#finish(this.#hangingUp.cause, 'untold');
  }

  isGone(): Promise<boolean> {
    return isDialogGone(this.#peer);
  }

  abandon(cause: ReleaseCause): void {
    this.#finish(this.#hangingUp?.cause ?? cause, 'untold');
  }

  #confirm(): void {
    this.#isConfirmed = true;
    this.#options.endpoint.session.confirm();
    this.#confirmed.resolve();
  }

  /** Says BYE, once, and ends the leg for the cause of whoever was first. */
  #release(cause: ReleaseCause): Promise<void> {
    if (this.#isOver) return this.#closed.promise;
    this.#hangingUp ??= { cause, done: this.#sendBye(cause) };
    return this.#hangingUp.done;
  }

  async #sendBye(cause: ReleaseCause): Promise<void> {
    let farEnd: 'told' | 'untold' = 'told';
    this.#thirdParty.hangUp();
    const { clock, log } = this.#options;
    const stopTimer = clock.after(BYE_PATIENCE_MS, () => void this.#closeOnce(cause));
    try {
      await sendInDialog(this.#peer, 'BYE');
    } catch (error) {
      // The far end does not agree or is not there: the leg is over for us all the same.
      log.debug({ why: reasonOf(error) }, 'nobody answered BYE');
      if (this.#isOrphaned) farEnd = 'untold';
    }
    stopTimer();
    this.#finish(cause, farEnd);
    await this.#closed.promise;
  }

  #onBye(request: SrfRequest): void {
    const { isReferred } = this.#thirdParty;
    // Its To tag is from our 200: the far end has received that, even where the ACK is lost or overtaken.
    if (request.source !== 'application') this.#confirm();
    this.#thirdParty.farEndLeft();
    // Where our own BYE is under way, the two have crossed and ours was meant.
    this.#finish(this.#hangingUp?.cause ?? causeOf(request, isReferred));
  }

  #finish(cause: ReleaseCause, farEnd: 'told' | 'untold' = 'told'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { srf, dialog, onOver } = this.#options;
    srf.removeDialog(dialog);
    if (farEnd === 'told') this.#entry?.forget();
    else this.#entry?.orphan();
    this.#over.resolve();
    void this.#closeOnce(cause).then(onOver);
  }

  /** Ends the leg for its call, whatever the far end knows of it. Safe to call twice. */
  #closeOnce(cause: ReleaseCause): Promise<void> {
    this.#closing ??= this.#closeMedia(cause);
    return this.#closing;
  }

  async #closeMedia(cause: ReleaseCause): Promise<void> {
    const { endpoint, log } = this.#options;
    this.#negotiation.stop();
    this.#thirdParty.stop();
    this.#reportRelease(cause);
    await endpoint.close().catch((error: unknown) => {
      log.warn({ why: reasonOf(error) }, 'could not close a port');
    });
    setImmediate(this.#closed.resolve);
  }

  #reportRelease(cause: ReleaseCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    if (!this.#isConfirmed) this.#confirmed.reject(endedBeforeAck());
    this.#onReleased(cause);
  }

  #onInfo(request: SrfRequest, answer: SrfAnswer): void {
    const digit = answerInfo(request, answer);
    if (digit === undefined || !this.#dtmf.byInfo(digit, this.#options.clock.nowMs())) return;
    this.#thirdParty.passDigit(digit);
    // An agent that is gone from the line has no use for keys.
    if (!this.#thirdParty.hasPartner) this.#onDigit(digit);
  }

  #onNotify(request: SrfRequest, answer: SrfAnswer): void {
    // REFER alone subscribes us to anything. RFC 6665, 8.3.2.
    if (isOfRefer(request)) {
      answer.send(200);
      this.#thirdParty.notified(noticeOf(request));
    } else answer.send(489, { headers: { 'Allow-Events': 'refer' } });
  }
}

function endedBeforeAck(): CarrierError {
  return new CarrierError('Cannot hold the call: it ended before its ACK', 487);
}

/** A BYE that comes after a transfer was agreed to is how many carriers say that it worked. */
function causeOf(bye: SrfRequest, isReferred: boolean): ReleaseCause {
  if (bye.source === 'application') {
    return { kind: 'broken', reason: bye.get('reason') ?? 'the far end is gone' };
  }
  return isReferred ? { kind: 'transferred' } : { kind: 'far-end' };
}
