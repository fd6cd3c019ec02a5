/** The ports to the telephone network: who connects us, one party's side of a call, and who handles its sound. */
import type { AudioStream } from '../media/audio-stream.ts';

/** Why a leg ended. `sipStatus` is the final status of a leg that was never answered. */
export type ReleaseCause =
  | { readonly kind: 'far-end' }
  | { readonly kind: 'near-end' }
  | { readonly kind: 'transferred' }
  | { readonly kind: 'unanswered'; readonly sipStatus: number }
  | { readonly kind: 'broken'; readonly reason: string };

export interface TransferOptions {
  /**
   * What is said to the other party alone, before the caller is put through: 8 kHz, mono, in chunks of any length.
   * Only a second call can do that.
   */
  readonly announcement?: () => AsyncIterable<Int16Array>;
}

/**
 * How a caller was handed over. `joined`: by a second call, which this leg goes on with until either party hangs up;
 * `referred`: the far end called the other party itself, and this leg is released.
 */
export type TransferOutcome = 'joined' | 'referred';

/** A caller, another party and the agent on one line, each of whom hears the other two. */
export interface ThreeWayCall {
  /** Sets the one listener; called once, when the other party has gone and the caller is alone with the agent again. */
  onAlone(listener: () => void): void;

  /**
   * Takes the agent out. Resolves when the two are joined, as after a transfer that is `joined`. Safe to call twice.
   *
   * @throws {CarrierError} when one of the two has gone, or it failed; then all goes on as it was.
   */
  leave(): Promise<void>;
}

/** An answered leg. */
export interface Leg {
  readonly audio: AudioStream;

  /** Sets the one listener; called once, with the cause, also when the leg had ended before. */
  onReleased(listener: (cause: ReleaseCause) => void): void;

  /**
   * Digits that came by SIP INFO, as the audio stream's `digit` events are for RFC 4733. A far end that sends its keys
   * both ways is heard once.
   */
  onDigit(listener: (digit: string) => void): void;

  /** Starts a stereo WAV file: caller left, what the caller hears right. */
  record(path: string): void;

  /**
   * Ends the leg with BYE, and the other party's where the two are joined. Resolves when the far end has agreed or 32 s have gone, and the recording is whole; the leg is
   * released 2 s after its BYE at the latest. Safe to call twice, and on a leg that is released.
   */
  hangUp(): Promise<void>;

  /**
   * Hands the caller over to a number, by REFER or by a second call that is joined with this one. Resolves when the
   * other party has answered and the caller is with it. A joined leg is released with `transferred` when the other party
   * hangs up.
   *
   * @throws {CarrierError} when it was refused or failed; the leg goes on with the agent.
   */
  transfer(number: string, options?: TransferOptions): Promise<TransferOutcome>;

  /**
   * Calls another party, and lets it, the caller and the agent hear one another. Resolves when they do. The leg goes on,
   * and whatever ends it ends the other party's call.
   *
   * @throws {CarrierError} when it was refused or failed; the leg goes on as it was.
   */
  bringIn(number: string, options?: TransferOptions): Promise<ThreeWayCall>;
}

/** The telephone network, or the other party, did not do what was asked. */
export class CarrierError extends Error {
  override readonly name = 'CarrierError';
  /** SIP status where there was one, else 503. */
  readonly sipStatus: number;
  /** The final status by which the far end refused our INVITE; null where it said nothing. */
  readonly refusedWith: number | null;

  constructor(
    message: string,
    sipStatus: number,
    {
      refusedWith = null,
      ...options
    }: ErrorOptions & { readonly refusedWith?: number | null } = {},
  ) {
    super(message, options);
    this.sipStatus = sipStatus;
    this.refusedWith = refusedWith;
  }
}

/** What goes along with an answer. */
export interface AnswerOptions {
  /** What the call is called here, for a caller who is to know; carriers are not told. */
  readonly callId?: string;
  /** Headers beside those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Somebody rings. `answer` or `reject` is called; `reject` also to give up an answer that is not confirmed yet. */
export interface IncomingCall {
  /** Identifier that the carrier knows the call by: the SIP Call-ID. */
  readonly carrierCallSid: string;
  /** E.164 where the carrier gave one, else as it came, such as `anonymous`. */
  readonly from: string;
  readonly to: string;

  /** Sets the one listener; called when the caller gives up before the answer. */
  onCancelled(listener: () => void): void;

  reject(sipStatus: number, options?: { readonly retryAfterSeconds?: number }): void;

  /** Says 180 Ringing. */
  ring(): void;

  /**
   * Answers. Resolves when the caller is known to be there, by its ACK or its first packet: until then nothing is sent to
   * the address that its SDP names, because whoever forges an INVITE may have put anybody's there.
   *
   * @throws {CarrierError} when the caller gave up, also by never confirming, or no common codec or port is there.
   */
  answer(options?: AnswerOptions): Promise<Leg>;
}

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
  /** Channels not in use; 0 while the trunk takes no calls, Infinity without a limit. */
  readonly free: number;
  /** All channels; Infinity without a limit. */
  readonly total: number;
  /** Reason why the trunk takes no calls, such as `not registered with …`; undefined while it takes them. */
  readonly problem?: string | undefined;
}

/** State of a SIP server or trunk for `/readyz` and the dashboard. */
export interface CarrierReport {
  readonly name: string;
  /** Set for a trunk; unset for a server or gateway that all trunks need. */
  readonly kind?: 'trunk';
  readonly isReady: boolean;
  /** In plain English, such as `listening on udp and tcp 127.0.0.1:5060` or why it is not ready. */
  readonly state: string;
}

/** Who connects us to the telephone network. */
export interface Carrier {
  /** @throws {Error} naming the port when it is busy. */
  start(onIncoming: (call: IncomingCall) => void): Promise<void>;

  /** Refuses new calls from now on with 503 and Retry-After; calls in progress go on. */
  drain(): void;

  stop(): Promise<void>;

  /**
   * Places a call through the trunk whose numbers include `from`.
   *
   * @throws {CarrierError} 404 when no trunk has that number.
   */
  place(request: {
    readonly from: string;
    readonly to: string;
    readonly ringingTimeoutMs: number;
  }): OutgoingCall;

  /** Route of calls from this number; undefined when no trunk has it. One lookup gives everything. */
  routeFor(from: string): TrunkRoute | undefined;

  reports(): readonly CarrierReport[];
}
