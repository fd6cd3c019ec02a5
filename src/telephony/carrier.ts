/** Ports to the telephone network: carriers, incoming and outgoing calls, the legs of answered calls, and text messages. */

import type { CallPrice } from '../domain/call/call-cost.ts';
import type { CarrierState } from '../domain/call/engine-state.ts';
import type { AudioStream } from '../media/audio-stream.ts';

/** Why a leg ended. `sipStatus` is the final status of a leg that was never answered. */
export type ReleaseCause =
  | { readonly kind: 'far-end' }
  | { readonly kind: 'near-end' }
  | { readonly kind: 'transferred' }
  | { readonly kind: 'unanswered'; readonly sipStatus: number }
  | { readonly kind: 'broken'; readonly reason: string };

/**
 * Question whether the third party takes the call, so that a caller is not connected to a mailbox. Key 1 means yes and key 2
 * no, also during the announcement; without an answer within 10 s after the question the transfer fails.
 */
export interface Acceptance {
  /** 8 kHz, mono, in chunks of any length; at most 10 s are heard. */
  readonly question: () => AsyncIterable<Int16Array>;

  /** Listens for a spoken answer from the question on. Returns a function that ends this; undefined without a recogniser. */
  readonly hear?:
    | ((audio: AudioStream, onAnswer: (isYes: boolean) => void) => () => void)
    | undefined;
}

/** Options of a transfer or a three-way call. */
export interface TransferOptions {
  /**
   * Announcement to the third party alone, before the caller is connected: 8 kHz, mono, in chunks of any length.
   * Needs a second call: REFER cannot do it.
   */
  readonly announcement?: () => AsyncIterable<Int16Array>;

  /** Asks the third party after the announcement; not asked unless given. Needs a second call, too. */
  readonly acceptance?: Acceptance;

  /**
   * Called once, when the third party hangs up first after a `joined` transfer: this leg goes on, with the caller alone.
   * Without it, the leg is released with `transferred` then.
   */
  readonly onAlone?: () => void;
}

/**
 * Result of a transfer. `joined`: by a second call, and this leg goes on until either party hangs up; `referred`: by
 * REFER, and this leg is released.
 */
export type TransferOutcome = 'joined' | 'referred';

/** Three-way call of the caller, a third party and the agent. */
export interface ThreeWayCall {
  /** Sets the listener; called once, when the third party has hung up and the caller is alone with the agent. */
  onAlone(listener: () => void): void;

  /**
   * Removes the agent. Resolves when the two are connected, as after a `joined` transfer. Safe to call twice.
   *
   * @param onAlone as `TransferOptions.onAlone`.
   * @throws {CarrierError} when a party has hung up, or it failed; the call stays as it was.
   */
  leave(onAlone?: () => void): Promise<void>;
}

/**
 * REFER of the far end: a request to replace it by another number. Call `follow` or `refuse` within
 * 10 s; later it is refused with 500.
 */
export interface IncomingRefer {
  /** Number as the far end wrote it: E.164, or other digits. */
  readonly number: string;

  /** Refuses. @param why in plain English, without the number: the far end's log shows it. */
  refuse(sipStatus: number, why: string): void;

  /**
   * Accepts, and calls the number through the trunk of the call. Resolves when the call is connected with that party;
   * the far end then gets BYE. It may hang up before.
   *
   * @throws {CarrierError} when that failed; the leg goes on as it was, unless the far end has left.
   */
  follow(): Promise<void>;
}

/** How a far end moved a call to another party: by REFER, or by INVITE with Replaces. */
export type MoveMethod = 'refer' | 'replaces';

/** An answered leg. */
export interface Leg {
  readonly audio: AudioStream;

  /** Charges of the carrier, as its trunk was set up when the call began; undefined where they are unknown. */
  readonly price?: CallPrice | undefined;

  /** Sets the listener; called once, with the cause, even if the leg ended before. */
  onReleased(listener: (cause: ReleaseCause) => void): void;

  /**
   * Sets the listener of DTMF by SIP INFO; the audio stream's `digit` events carry RFC 4733. A far end that sends
   * both is reported once per key.
   */
  onDigit(listener: (digit: string) => void): void;

  /** Sets the listener of REFER; absent where far ends cannot ask. Without a listener it is refused. */
  onRefer?(listener: (refer: IncomingRefer) => void): void;

  /** Sets the listener; called when another party has taken the far end's place. Sound and leg go on. */
  onMoved?(listener: (method: MoveMethod) => void): void;

  /** Starts a stereo WAV file: caller left, audio sent to the caller right. */
  record(path: string): void;

  /**
   * Ends the leg with BYE, and the leg of a connected third party. Resolves when the far end has confirmed or after
   * 32 s, and the recording is complete; the leg is released at most 2 s after its BYE. Safe to call twice, and on a
   * released leg.
   */
  hangUp(): Promise<void>;

  /**
   * Transfers the caller to a number, by REFER or by a second call that is joined with this one. Resolves when the
   * third party has answered and is connected with the caller. A joined leg is released with `transferred` when the
   * third party hangs up, unless `onAlone` is given.
   *
   * @throws {CarrierError} when it was refused or failed; the leg goes on with the agent.
   */
  transfer(number: string, options?: TransferOptions): Promise<TransferOutcome>;

  /**
   * Calls a third party, and mixes it with the caller and the agent. Resolves when all three are connected. The end
   * of this leg ends the third party's call.
   *
   * @throws {CarrierError} when it was refused or failed; the leg goes on as it was.
   */
  bringIn(number: string, options?: TransferOptions): Promise<ThreeWayCall>;
}

/** A request to the telephone network, or to the far end, failed. */
export class CarrierError extends Error {
  override readonly name = 'CarrierError';
  /** SIP status of the failure; 503 without one. */
  readonly sipStatus: number;
  /** Final status of the far end to our INVITE; null without one. */
  readonly refusedWith: number | null;
  /** Whether our own SIP server made that status, 408 or 503, because nothing came from the far end. RFC 3261, 8.1.3.1. */
  readonly isUnreached: boolean;

  constructor(
    message: string,
    sipStatus: number,
    {
      refusedWith = null,
      isUnreached = false,
      ...options
    }: ErrorOptions & {
      readonly refusedWith?: number | null;
      readonly isUnreached?: boolean;
    } = {},
  ) {
    super(message, options);
    this.sipStatus = sipStatus;
    this.refusedWith = refusedWith;
    this.isUnreached = isUnreached;
  }
}

/** Why a call is not transferred. @param why follows the words of every such failure. */
export function transferFailure(why: string, sipStatus: number, cause?: unknown): CarrierError {
  const options = cause === undefined ? {} : { cause };
  return new CarrierError(`Cannot transfer the call: ${why}`, sipStatus, options);
}

/** Headers and identifiers of an answer. */
export interface AnswerOptions {
  /** Our identifier of the call, for browser callers; carriers do not get it. */
  readonly callId?: string;
  /** Headers in addition to the standard ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Incoming call. Call `answer` or `reject`; `reject` also ends an answer that is not confirmed yet. */
export interface IncomingCall {
  /** Identifier that the carrier knows the call by: the SIP Call-ID. */
  readonly carrierCallSid: string;
  /** E.164 if the carrier sent it, otherwise as received, such as `anonymous`. */
  readonly from: string;
  readonly to: string;
  /** Goes into the call's `metadata`: untrusted text of the far end, under `sip`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The telephone of ours that calls, whose password was right; undefined for a carrier's call. */
  readonly phone?: { readonly agent?: string; readonly account?: string } | undefined;

  /** Sets the one listener; called when the caller gives up before the answer. */
  onCancelled(listener: () => void): void;

  reject(sipStatus: number, options?: { readonly retryAfterSeconds?: number }): void;

  /** Sends 180 Ringing. */
  ring(): void;

  /**
   * Answers. Resolves when the caller has confirmed, by ACK or by a first packet. Until then nothing is sent to the
   * address in its SDP, which a forged INVITE may have set to a third party's.
   *
   * @throws {CarrierError} when the caller gave up or never confirmed, or without a common codec or free port.
   */
  answer(options?: AnswerOptions): Promise<Leg>;
}

/** A call that was placed, until it is answered, refused or cancelled. */
export interface OutgoingCall {
  readonly carrierCallSid: string;

  /** Sets the one listener; called at the first 180 or 183. */
  onRinging(listener: () => void): void;

  /** @throws {CarrierError} with the final SIP status. */
  readonly answered: Promise<Leg>;

  /** Gives up: CANCEL before the answer, BYE after it. */
  cancel(): void;
}

/** Route of outgoing calls from one number, at this moment. */
export interface TrunkRoute {
  /** Name of the trunk, which several numbers may share. */
  readonly trunk: string;
  /** New calls per second that the trunk allows; undefined without a setting of its own. */
  readonly callsPerSecond: number | undefined;
  /** When the next call may begin by that setting; undefined: now. */
  readonly nextDialAtMs?: number | undefined;
  /** Channels not in use; 0 while the trunk takes no calls, Infinity without a limit. */
  readonly free: number;
  /** All channels; Infinity without a limit. */
  readonly total: number;
  /** Reason why the trunk takes no calls, such as `not registered with …`; undefined while it takes them. */
  readonly problem?: string | undefined;
}

/** State of a SIP server or trunk for `/readyz` and the dashboard. */
export type CarrierReport = CarrierState;

/** Connection to the telephone network. */
export interface Carrier {
  /** @throws {Error} naming the port when it is busy. */
  start(onIncoming: (call: IncomingCall) => void): Promise<void>;

  /** Refuses new calls from now on with 503 and Retry-After; calls in progress go on. */
  drain(): void;

  stop(): Promise<void>;

  /**
   * Places a call through the trunk whose numbers include `from`.
   *
   * @throws {CarrierError} 404 without such a trunk.
   */
  place(request: {
    readonly from: string;
    readonly to: string;
    readonly ringingTimeoutMs: number;
    /** SIP headers of the INVITE besides its own, already checked: X- headers and User-to-User. */
    readonly headers?: Readonly<Record<string, string>> | undefined;
  }): OutgoingCall;

  /** Route of calls from this number, all facts in one lookup; undefined when no trunk has the number. */
  routeFor(from: string): TrunkRoute | undefined;

  reports(): readonly CarrierReport[];
}

/** A text message outside of calls: SIP MESSAGE. */
export interface TextMessage {
  /** E.164, or the user part of the far end's URI as received. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** Outcome of a message that was sent. */
export type TextOutcome =
  | { readonly kind: 'taken' }
  /** The message was not accepted. `sipStatus` is the far end's final response; null when no request was sent. */
  | { readonly kind: 'refused'; readonly sipStatus: number | null; readonly reason: string }
  /** The far end did not answer: it may have the message or not. */
  | { readonly kind: 'unanswered' };
