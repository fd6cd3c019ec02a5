/** The far end of a call and the agent on it, both doing only what the test says. */

import type { TalkingParty, TalkOptions } from '../../../src/call/session/call-parts.ts';
import type {
  AcceptanceQuestion,
  ConversationEvent,
  ConversationSoFar,
} from '../../../src/conversation/conversation-port.ts';
import type { CallPrice } from '../../../src/domain/call/call-cost.ts';
import type { AudioEvent, AudioStats, AudioStream } from '../../../src/media/audio-stream.ts';
import { ReceiveRing } from '../../../src/media/sound-rings.ts';
import type {
  AnswerOptions,
  IncomingCall,
  IncomingRefer,
  Leg,
  MoveMethod,
  ReleaseCause,
  ThreeWayCall,
  TransferOptions,
  TransferOutcome,
} from '../../../src/telephony/carrier.ts';

export class ScriptedAudio implements AudioStream {
  readonly heard = new ReceiveRing();
  readonly #listeners: ((event: AudioEvent) => void)[] = [];

  onEvent(listener: (event: AudioEvent) => void): void {
    this.#listeners.push(listener);
  }

  emit(event: AudioEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  stats(): Promise<AudioStats> {
    const packets = { packetsReceived: 100, packetsSent: 90, packetsLost: 2, packetsRejected: 1 };
    return Promise.resolve({ ...packets, jitterMs: 0 });
  }

  begin(): void {}
  say(): void {}
  finish(): void {}
  drop(): void {}
  resume(): void {}
  setPauseAfter(): void {}
  setPrivate(): void {}
  sendDigits(): void {}
}

export class ScriptedLeg implements Leg {
  readonly audio = new ScriptedAudio();
  readonly price: CallPrice | undefined;
  readonly recorded: string[] = [];
  readonly transfers: string[] = [];
  readonly broughtIn: { readonly number: string; readonly isAnnounced: boolean }[] = [];
  readonly threeWay = new ScriptedThreeWay();
  /** How often BYE was said: asking again of a leg that is over says nothing. */
  hangUps = 0;
  /** Whether the other party of the newest transfer is asked. */
  isAsked = false;
  /** The other party of the newest transfer hangs up first; undefined where that ends the leg. */
  beAlone: (() => void) | undefined;
  digit: (digit: string) => void = () => undefined;
  /** The far end sends REFER. */
  refer: (refer: IncomingRefer) => void = () => undefined;
  /** Another party takes the far end's place. */
  move: (method: MoveMethod) => void = () => undefined;
  #cause: ReleaseCause | undefined;
  #listener: (cause: ReleaseCause) => void = () => undefined;

  constructor(price?: CallPrice) {
    this.price = price;
  }

  /** The leg ends for this cause; later causes change nothing. */
  release(cause: ReleaseCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    this.#listener(cause);
  }

  onReleased(listener: (cause: ReleaseCause) => void): void {
    this.#listener = listener;
    if (this.#cause !== undefined) listener(this.#cause);
  }

  onDigit(listener: (digit: string) => void): void {
    this.digit = listener;
  }

  onRefer(listener: (refer: IncomingRefer) => void): void {
    this.refer = listener;
  }

  onMoved(listener: (method: MoveMethod) => void): void {
    this.move = listener;
  }

  record(path: string): void {
    this.recorded.push(path);
  }

  hangUp(): Promise<void> {
    if (this.#cause === undefined) this.hangUps += 1;
    this.release({ kind: 'near-end' });
    return Promise.resolve();
  }

  transfer(number: string, options: TransferOptions = {}): Promise<TransferOutcome> {
    this.transfers.push(number);
    this.beAlone = options.onAlone;
    this.isAsked = options.acceptance !== undefined;
    return Promise.resolve('joined');
  }

  bringIn(number: string, options: TransferOptions = {}): Promise<ThreeWayCall> {
    this.broughtIn.push({ number, isAnnounced: options.announcement !== undefined });
    return Promise.resolve(this.threeWay);
  }
}

/** Three on one line, until the agent leaves or `beAlone` says that the other party has. */
export class ScriptedThreeWay implements ThreeWayCall {
  leaves = 0;
  /** Why the agent cannot leave; undefined where it can. */
  refusal: Error | undefined;
  beAlone: () => void = () => undefined;
  /** As `ScriptedLeg.beAlone`, after the agent has left. */
  return: (() => void) | undefined;

  onAlone(listener: () => void): void {
    this.beAlone = listener;
  }

  leave(onAlone?: () => void): Promise<void> {
    this.leaves += 1;
    this.return = onAlone;
    return this.refusal === undefined ? Promise.resolve() : Promise.reject(this.refusal);
  }
}

export class ScriptedIncoming implements IncomingCall {
  readonly carrierCallSid = 'sid@192.0.2.1';
  readonly from = '+390612345678';
  readonly to: string;
  readonly rejections: { readonly sipStatus: number; readonly retryAfterSeconds?: number }[] = [];
  readonly answers: AnswerOptions[] = [];
  readonly #answer = Promise.withResolvers<Leg>();
  #onCancelled: () => void = () => undefined;

  constructor(to: string) {
    this.to = to;
  }

  /** Makes the call answered with this leg. */
  connect(leg: Leg): void {
    this.#answer.resolve(leg);
  }

  fail(error: Error): void {
    this.#answer.reject(error);
  }

  cancel(): void {
    this.#onCancelled();
  }

  onCancelled(listener: () => void): void {
    this.#onCancelled = listener;
  }

  reject(sipStatus: number, options: { readonly retryAfterSeconds?: number } = {}): void {
    this.rejections.push({ sipStatus, ...options });
  }

  ring(): void {}

  answer(options: AnswerOptions = {}): Promise<Leg> {
    this.answers.push(options);
    return this.#answer.promise;
  }
}

export class ScriptedTalk implements TalkingParty {
  readonly options: TalkOptions;
  readonly digits: string[] = [];
  /** Values of `transferPending` that it received. */
  readonly pendingStates: boolean[] = [];
  /** Values of `thirdParty` that it received. */
  readonly thirdPartyStates: boolean[] = [];
  readonly announced: string[] = [];
  /** How often another party took the caller’s place. */
  moves = 0;
  /** Said when the talk is stopped. */
  lastWords: ConversationEvent | undefined;
  isStarted = false;
  stops = 0;
  soFar: ConversationSoFar = {
    history: [{ role: 'user', content: 'I want a refund.' }],
    lastReplyId: 3,
    turns: 1,
    startedAt: new Date(0),
  };

  constructor(options: TalkOptions) {
    this.options = options;
  }

  say(event: ConversationEvent): void {
    this.options.onEvent(event);
  }

  start(): void {
    this.isStarted = true;
  }

  digit(digit: string): void {
    this.digits.push(digit);
  }

  transferPending(isUnderWay: boolean): void {
    this.pendingStates.push(isUnderWay);
  }

  thirdParty(isThere: boolean): void {
    this.thirdPartyStates.push(isThere);
  }

  farEndMoved(): void {
    this.moves += 1;
  }

  announcement(summary: string): () => AsyncIterable<Int16Array> {
    this.announced.push(summary);
    return async function* () {};
  }

  acceptance(): AcceptanceQuestion {
    return { question: async function* () {} };
  }

  async stop(): Promise<void> {
    this.stops += 1;
    if (this.lastWords !== undefined) this.say(this.lastWords);
  }
}
