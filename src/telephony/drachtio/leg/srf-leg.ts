/** Leg of an answered call over drachtio: its SIP dialog and its media endpoint, which start and end together. */
import type { CallPrice } from '../../../domain/call/call-cost.ts';
import type { AudioStream } from '../../../media/audio-stream.ts';
import {
  CarrierError,
  type IncomingRefer,
  type MoveMethod,
  type ReleaseCause,
  type ThreeWayCall,
  type TransferOptions,
  type TransferOutcome,
  transferFailure,
} from '../../carrier.ts';
import { LinkedAudio, type MediaEndpoint } from '../../media-gateway.ts';
import type { JournalEntry, OpenDialogJournal } from '../carrier/open-dialog-journal.ts';
import type { OrphanedLeg } from '../carrier/orphaned-calls.ts';
import { reasonOf, type SrfAnswer, type SrfRequest } from '../carrier/srf.ts';
import { type AcceptedTransfers, FarEndMoves } from '../transfer/far-end-moves.ts';
import type { Successor } from '../transfer/incoming-refer.ts';
import type { ReplacedDialog } from '../transfer/replaces.ts';
import { ThirdParty } from '../transfer/third-party.ts';
import {
  isOfRefer,
  noticeOf,
  type SecondLeg,
  type ThirdPartyOptions,
} from '../transfer/transfer.ts';
import { answerInfo, DtmfMethods } from './dtmf-methods.ts';
import { type DialogPeer, isDialogGone, sendInDialog } from './in-dialog-request.ts';
import { Negotiation } from './negotiation.ts';

/** Time limit of the response to BYE. For SIP the session ends with our BYE. RFC 3261, 15.1.1. */
const BYE_PATIENCE_MS = 2_000;

/** Constructor parameters of `SrfLeg`. */
export interface SrfLegOptions extends ThirdPartyOptions {
  /** True when our 200 held an offer, so that the far end's SDP is in its ACK. */
  readonly isAnswerAwaited: boolean;
  /** True while only a forgeable INVITE names the far end: its ACK or first packet must follow. */
  readonly isConfirmationAwaited?: boolean;
  /** Journal of open dialogs, for the next process. */
  readonly journal?: OpenDialogJournal | undefined;
  /** Entry made before the answer. */
  readonly expected?: JournalEntry | undefined;
  /** Charges of the carrier; undefined where they are unknown. */
  readonly price?: CallPrice | undefined;
  /** Set where the trunk lets far ends move the call. */
  readonly acceptedTransfers?: AcceptedTransfers | undefined;
  /** Whether the endpoint is another leg's, until `takeEndpoint`. */
  readonly isInPlace?: boolean;
  /** Called once, when the leg has ended. */
  readonly onOver: () => void;
}

/** One leg: hang-up, transfer, hold and DTMF of an answered call. */
export class SrfLeg implements SecondLeg, Successor, OrphanedLeg {
  readonly audio: AudioStream;
  readonly price: CallPrice | undefined;
  readonly #options: SrfLegOptions;
  readonly #peer: DialogPeer;
  readonly #negotiation: Negotiation;
  readonly #confirmed = Promise.withResolvers<void>();
  #isConfirmed = false;
  readonly #over = Promise.withResolvers<void>();
  /** Resolves after `onReleased`, when the recording is complete. */
  readonly #closed = Promise.withResolvers<void>();
  readonly #entry: JournalEntry | undefined;
  readonly #thirdParty: ThirdParty;
  readonly #dtmf = new DtmfMethods();
  readonly #moves: FarEndMoves;
  /** Leg of the party that has taken the far end's place; its end is this one's. */
  #successor: Successor | undefined;
  #hasEndpoint: boolean;
  #cause: ReleaseCause | undefined;
  #hangingUp: { readonly cause: ReleaseCause; readonly done: Promise<void> } | undefined;
  #closing: Promise<void> | undefined;
  #isOver = false;
  #isOrphaned = false;
  #onReleased: (cause: ReleaseCause) => void = () => {};
  #onDigit: (digit: string) => void = () => {};
  #onMoved: (method: MoveMethod) => void = () => {};

  constructor(options: SrfLegOptions) {
    const { dialog, endpoint, expected, price } = options;
    this.#options = options;
    this.price = price;
    this.audio = new LinkedAudio(endpoint.audio, {
      isHeard: (event) => {
        // While the far end moves the call it may have left, and the next party may still ring.
        if (event.kind === 'media-lost') return !this.isMoving;
        return event.kind !== 'digit' || this.#dtmf.byRtp(event.digit, options.clock.nowMs());
      },
    });
    this.#peer = options;
    this.#hasEndpoint = options.isInPlace !== true;
    this.#negotiation = new Negotiation({ ...options, isMoving: () => this.#isEndpointTaken });
    const { channels = [] } = endpoint;
    this.#entry = options.journal?.answered(dialog, { channels, expected, price });
    this.#thirdParty = new ThirdParty(options, {
      isEnding: () => this.#isEnding,
      pressed: (digit) => this.#onDigit(digit),
      end: (cause) => void this.#release(cause),
    });
    this.#moves = new FarEndMoves({
      ...{ accepted: options.acceptedTransfers, peer: options, endpoint, log: options.log },
      leg: {
        isEnding: () => this.#isEnding,
        isBusy: () => this.#thirdParty.isBusy || this.#negotiation.isPending,
        isOver: () => this.#isOver,
        moved: (next, method) => this.#moved(next, method),
        leave: () => void this.#release({ kind: 'transferred' }),
      },
    });
    dialog.on('info', (request, answer) => this.#onInfo(request, answer));
    dialog.on('notify', (request, answer) => this.#onNotify(request, answer));
    dialog.on('destroy', (request) => this.#onBye(request));
    dialog.on('ack', () => this.#confirm());
    dialog.on('refer', (request, answer) => this.#moves.takeRefer(request, answer));
    dialog.on('message', (_, answer) => answer.send(405));
    if (!options.isConfirmationAwaited) this.#confirm();
    this.#confirmed.promise.catch(() => undefined);
    endpoint.audio.onEvent(({ kind }) => {
      if (kind === 'media-arrived') this.#confirm();
      if (kind === 'media-lost' && this.#hasEndpoint && !this.isMoving)
        void this.#release({ kind: 'broken', reason: 'no audio comes' });
    });
    // Audio may arrive before the SIP server reports that the 200 was sent.
    if (this.#hasEndpoint && endpoint.session.hasArrived) this.#confirm();
  }

  get endpoint(): MediaEndpoint {
    return this.#options.endpoint;
  }

  /** Resolves when sound can flow. @throws {MediaError} when it never will. */
  get negotiated(): Promise<void> {
    return this.#negotiation.settled;
  }

  /**
   * Resolves when the far end has confirmed. Without ACK, SIP itself ends the call after 32 s.
   *
   * @throws {CarrierError} 487 when the call ended before.
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

  onRefer(listener: (refer: IncomingRefer) => void): void {
    this.#moves.onRefer(listener);
  }

  onMoved(listener: (method: MoveMethod) => void): void {
    this.#onMoved = listener;
  }

  record(path: string): void {
    this.#options.endpoint.record(path);
  }

  hangUp(): Promise<void> {
    this.#moves.stop();
    if (this.#successor !== undefined) {
      void this.#release({ kind: 'transferred' });
      return this.#successor.hangUp();
    }
    return this.#closing === undefined ? this.#release({ kind: 'near-end' }) : this.#closed.promise;
  }

  async transfer(number: string, options: TransferOptions = {}): Promise<TransferOutcome> {
    if (this.#successor !== undefined) return this.#successor.transfer(number, options);
    this.#refuseWhileMoving();
    const outcome = await this.#thirdParty.transfer(number, options);
    if (outcome === 'referred') {
      void this.#release({ kind: 'transferred' });
      await this.#over.promise;
    }
    return outcome;
  }

  async bringIn(number: string, options: TransferOptions = {}): Promise<ThreeWayCall> {
    if (this.#successor !== undefined) return this.#successor.bringIn(number, options);
    this.#refuseWhileMoving();
    return this.#thirdParty.bringIn(number, options);
  }

  takeEndpoint(moves: number): void {
    this.#hasEndpoint = true;
    this.#moves.made = moves;
  }

  get isMoving(): boolean {
    return this.#moves.isPending || this.#successor?.isMoving === true;
  }

  /** Whether it is that dialog, and its trunk lets the source replace its far end. */
  isReplaceable({ callId, localTag, remoteTag }: ReplacedDialog, source: string): boolean {
    const { sip } = this.#options.dialog;
    const isSame =
      sip.callId === callId && sip.localTag === localTag && sip.remoteTag === remoteTag;
    return isSame && this.#moves.mayReplace(source);
  }

  /** SIP status that refuses another party in the far end's place now; undefined where it may come. */
  get replacementRefusal(): 491 | 603 | undefined {
    if (this.#isEnding || this.#moves.areUsedUp) return 603;
    const isBusy = !this.#isConfirmed || this.#moves.isPending || this.#thirdParty.isBusy;
    return isBusy || this.#negotiation.isPending ? 491 : undefined;
  }

  /** Replaces the far end as `FarEndMoves.replace` does. */
  replace(answerNext: () => Promise<Successor>): Promise<void> {
    return this.#moves.replace(answerNext);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  orphan(): void {
    this.#isOrphaned = true;
    // The response to our BYE is lost with the connection.
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

  /** Sends BYE, once; the first cause counts. */
  #release(cause: ReleaseCause): Promise<void> {
    if (this.#isOver) return this.#closed.promise;
    this.#moves.stop();
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
      // Without a response the leg ends all the same.
      log.debug({ why: reasonOf(error) }, 'BYE was not answered');
      if (this.#isOrphaned) farEnd = 'untold';
    }
    stopTimer();
    this.#finish(cause, farEnd);
    await this.#closed.promise;
  }

  #onBye(request: SrfRequest): void {
    const { isReferred } = this.#thirdParty;
    // The To tag is from our 200, so the far end has received it, even if its ACK is lost.
    if (request.source !== 'application') this.#confirm();
    this.#thirdParty.farEndLeft();
    // Our BYE and the far end's have crossed: ours counts.
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

  /** Releases the leg and closes its media. Safe to call twice. */
  #closeOnce(cause: ReleaseCause): Promise<void> {
    this.#closing ??= this.#closeMedia(cause);
    return this.#closing;
  }

  async #closeMedia(cause: ReleaseCause): Promise<void> {
    this.#negotiation.stop();
    this.#thirdParty.stop();
    // A far end may hang up as soon as its REFER is accepted. RFC 5589, 6.1.
    const moved = this.#moves.settled;
    if (moved !== undefined) await moved;
    if (this.#successor === undefined) this.#reportRelease(cause);
    if (this.#hasEndpoint) await this.#closeEndpoint();
    setImmediate(this.#closed.resolve);
  }

  async #closeEndpoint(): Promise<void> {
    const { endpoint, log } = this.#options;
    await endpoint.close().catch((error: unknown) => {
      log.warn({ why: reasonOf(error) }, 'could not close a port');
    });
  }

  #reportRelease(cause: ReleaseCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    if (!this.#isConfirmed) {
      const why = 'Cannot hold the call: it ended before its ACK';
      this.#confirmed.reject(new CarrierError(why, 487));
    }
    this.#onReleased(cause);
  }

  get #isEnding(): boolean {
    return this.#cause !== undefined || this.#hangingUp !== undefined || this.#isOver;
  }

  /** Whether the endpoint is another far end's, or about to be. */
  get #isEndpointTaken(): boolean {
    return this.#moves.isPending || this.#successor !== undefined;
  }

  /** @throws {CarrierError} 491 while the far end moves the call. */
  #refuseWhileMoving(): void {
    if (!this.#moves.isPending) return;
    throw transferFailure('the far end is moving it', 491);
  }

  /** Continues the call with another party, on the same endpoint. */
  #moved(next: Successor, method: MoveMethod): void {
    this.#successor = next;
    this.#hasEndpoint = false;
    next.takeEndpoint(this.#moves.made + 1);
    next.onDigit((digit) => {
      if (this.#dtmf.byInfo(digit, this.#options.clock.nowMs())) this.#onDigit(digit);
    });
    next.onRefer?.((refer) => this.#moves.passRefer(refer));
    next.onMoved?.((by) => this.#onMoved(by));
    this.#onMoved(method);
    // Called at once if it has just hung up.
    next.onReleased((cause) => this.#reportRelease(cause));
  }

  #onInfo(request: SrfRequest, answer: SrfAnswer): void {
    const digit = answerInfo(request, answer);
    if (digit === undefined || !this.#dtmf.byInfo(digit, this.#options.clock.nowMs())) return;
    this.#thirdParty.passDigit(digit);
    // After a transfer the agent has no use for keys.
    if (!this.#thirdParty.hasPartner) this.#onDigit(digit);
  }

  #onNotify(request: SrfRequest, answer: SrfAnswer): void {
    // Only REFER creates a subscription for us. RFC 6665, 8.3.2.
    if (isOfRefer(request)) {
      answer.send(200);
      this.#thirdParty.notified(noticeOf(request));
    } else answer.send(489, { headers: { 'Allow-Events': 'refer' } });
  }
}

/** A BYE after an accepted REFER means, with many carriers, that the transfer succeeded. */
function causeOf(bye: SrfRequest, isReferred: boolean): ReleaseCause {
  if (bye.source === 'application') {
    return { kind: 'broken', reason: bye.get('reason') ?? 'the far end is gone' };
  }
  return isReferred ? { kind: 'transferred' } : { kind: 'far-end' };
}
