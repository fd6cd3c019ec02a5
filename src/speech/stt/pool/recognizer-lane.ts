/** Those who wait for one recogniser process: audio goes ahead, requests one by one, a death is made good. */
import type { Clock } from '../../../lib/clock.ts';
import { AnswerPace } from '../../hearing/call-listener.ts';
import type { LoadOutcome } from '../../models/speech-engine.ts';
import { ChildKeeper } from './child-keeper.ts';
import { laneFailure, type Note, type RecognizerLaneOptions } from './lane-options.ts';
import {
  type LaneRequest,
  type LaneUtterance,
  type MovingUtterance,
  newRequest,
  type PendingRecognition,
  type RecognitionOrder,
  type UtteranceOptions,
} from './lane-request.ts';
import type { FromChild, ToChild } from './recognizer.ts';
import { RequestQueue } from './request-queue.ts';
import { UtteranceAudio } from './word-groups.ts';

/** Audio is sent ahead in pieces of 128 ms: few messages, and little left to do at the end. */
const SEND_SAMPLES = 1024;

/** A child that has not come to its next step after this long never will. */
const ABORT_WAIT_MS = 10_000;

/** A request that has twice been under way when its child died may well be the reason. */
const ATTEMPTS_MAX = 2;

export class RecognizerLane {
  readonly #clock: Clock;
  readonly #note: Note;
  readonly #keeper: ChildKeeper<ToChild, FromChild>;
  readonly #utterances: LaneUtterances;
  readonly #queue: RequestQueue<LaneRequest>;
  #running: LaneRequest | null = null;
  readonly #pace: AnswerPace;
  readonly #nextId: () => number;
  readonly #onChange: () => void;
  #cancelWatch: () => void = () => undefined;
  #lastId = 0;

  constructor(options: RecognizerLaneOptions) {
    this.#clock = options.clock;
    this.#note = options.note;
    this.#queue = new RequestQueue(options.turns);
    this.#pace = options.pace ?? new AnswerPace();
    this.#nextId = options.nextId ?? (() => ++this.#lastId);
    this.#onChange = options.onChange ?? (() => undefined);
    this.#keeper = new ChildKeeper({
      fork: options.fork,
      clock: options.clock,
      moduleUrl: options.moduleUrl,
      loading: { modules: options.modules, threads: options.threads },
      listener: {
        onUp: () => this.#up(),
        onDown: (how) => this.#down(how),
        onMessage: (message) => this.#settle(message),
      },
    });
    this.#utterances = new LaneUtterances((message) => this.#keeper.send(message));
  }

  /** Starts the process with the first of the models that can be loaded. */
  start(models: readonly string[]): Promise<LoadOutcome> {
    return this.#keeper.start(models);
  }

  async stop(): Promise<void> {
    const waiting = [...this.#queue.clear(), ...(this.#running === null ? [] : [this.#running])];
    this.#running = null;
    this.#cancelWatch();
    for (const request of waiting) request.reject(laneFailure('the recogniser is stopping'));
    await this.#keeper.stop();
  }

  /** Whether a request would be under way at once. */
  get isIdle(): boolean {
    return this.#keeper.isUp && this.#running === null && this.#queue.length === 0;
  }

  /** How much there is to do, for comparison. */
  get load(): number {
    return this.#utterances.size + this.#queue.length + (this.#keeper.isUp ? 0 : 1000);
  }

  /** Whether somebody waits who could as well wait elsewhere. */
  get hasMovable(): boolean {
    return this.#movable() !== undefined;
  }

  /** Requests that come before a new one of that priority. */
  ahead(priority: RecognitionOrder['priority']): number {
    return this.#queue.ahead(priority) + (this.#running === null ? 0 : 1);
  }

  /** Begins an utterance. */
  open(options: UtteranceOptions, caller: object = {}): LaneUtterance {
    const utterance = {
      ...options,
      id: this.#nextId(),
      caller,
      audio: new UtteranceAudio(),
      sent: -1,
      isClosing: false,
    };
    this.#utterances.add(utterance);
    return utterance;
  }

  append(utterance: LaneUtterance, pcm: Int16Array): void {
    utterance.audio.append(pcm);
    if (utterance.audio.length - utterance.sent < SEND_SAMPLES || !this.#keeper.isUp) return;
    // Whoever asked first shall not hear what came later.
    const limits = this.#queue.of(utterance.id).map(({ endSample }) => endSample);
    this.#utterances.sendAudio(utterance, Math.min(utterance.audio.length, ...limits));
  }

  /** Forgets the utterance, once what was asked about it is answered. */
  close(utterance: LaneUtterance): void {
    utterance.isClosing = true;
    this.#sweep(utterance);
  }

  /** Recognises what the utterance holds now. */
  request(utterance: LaneUtterance, order: RecognitionOrder): PendingRecognition {
    const { request, answer } = newRequest(this.#nextId(), utterance, order);
    request.giveUp = (reason) => this.#giveUp(request, reason);
    for (const stale of this.#queue.add(request)) stale.reject(laneFailure('a newer request came'));
    this.#preemptFor(request);
    this.#dispatch();
    return { answer, cancel: () => request.giveUp('it was cancelled') };
  }

  /**
   * Lets an utterance go, with those who wait on it.
   *
   * @param wanted default: that of whoever would come next.
   * @returns null when it has to stay, because it is being recognised.
   */
  giveAway(wanted?: LaneUtterance): MovingUtterance | null {
    const utterance = wanted ?? this.#movable()?.utterance;
    if (utterance === undefined || this.#running?.utterance === utterance) return null;
    const requests = this.#queue.of(utterance.id);
    for (const request of requests) this.#queue.remove(request);
    this.#utterances.forget(utterance);
    return { utterance, requests };
  }

  /** Takes an utterance over that another lane let go. */
  adopt({ utterance, requests }: MovingUtterance): void {
    this.#utterances.add(utterance);
    for (const request of requests) {
      request.giveUp = (reason) => this.#giveUp(request, reason);
      this.#queue.add(request);
    }
    this.#dispatch();
  }

  #movable(): LaneRequest | undefined {
    return this.#queue.peek(({ utterance }) => utterance !== this.#running?.utterance);
  }

  /** Tells the one who asked now, and lets the child know at its next step. */
  #giveUp(request: LaneRequest, reason: string): void {
    request.isGivenUp = true;
    request.reject(laneFailure(reason));
    if (this.#queue.remove(request)) this.#sweep(request.utterance);
    else if (this.#running === request) this.#abort(request);
  }

  /** A partial request can be asked again: the others do not wait for it. */
  #preemptFor({ priority }: LaneRequest): void {
    const running = this.#running;
    if (priority === 'partial' || running?.priority !== 'partial') return;
    this.#giveUp(running, `a ${priority} request came`);
  }

  #abort(request: LaneRequest): void {
    this.#keeper.send({ kind: 'abort', request: request.id });
    this.#cancelWatch();
    this.#cancelWatch = this.#clock.after(ABORT_WAIT_MS, () => this.#keeper.replace());
  }

  #dispatch(): void {
    if (this.#running !== null || !this.#keeper.isUp) return;
    const request = this.#queue.take();
    if (request === undefined) return;
    this.#running = request;
    request.attempts += 1;
    request.startedAtMs = this.#clock.nowMs();
    this.#utterances.sendAudio(request.utterance, request.endSample);
    this.#keeper.send({
      kind: 'transcribe',
      utterance: request.utterance.id,
      request: request.id,
      isFinal: request.priority !== 'partial',
    });
  }

  #settle(message: FromChild): void {
    if (message.kind === 'loaded' || message.request !== this.#running?.id) return;
    const request = this.#running;
    this.#running = null;
    this.#cancelWatch();
    if (message.kind === 'answer') {
      this.#pace.answered(this.#clock.nowMs() - request.startedAtMs);
      request.resolve(message.recognition);
    } else request.reject(laneFailure(message.reason));
    this.#sweep(request.utterance);
    this.#dispatch();
    this.#onChange();
  }

  #up(): void {
    for (const utterance of this.#utterances.all) {
      if (this.#queue.of(utterance.id).length === 0) {
        this.#utterances.sendAudio(utterance, utterance.audio.length);
      }
    }
    this.#dispatch();
    this.#onChange();
  }

  /** All that the child knew is gone with it. What it was at is asked of the next one, once. */
  #down(how: string): void {
    this.#note({ how, waiting: this.#queue.length }, 'Recogniser ended: starting another');
    this.#cancelWatch();
    this.#utterances.childGone();
    const request = this.#running;
    this.#running = null;
    if (request !== null) this.#askAgain(request, how);
    this.#onChange();
  }

  #askAgain(request: LaneRequest, how: string): void {
    if (request.attempts < ATTEMPTS_MAX && !request.isGivenUp) this.#queue.putBack(request);
    else request.reject(laneFailure(`its process ended with ${how}`));
    this.#sweep(request.utterance);
  }

  /** Forgets a closed utterance that nobody waits on. */
  #sweep(utterance: LaneUtterance): void {
    const isAwaited =
      this.#running?.utterance === utterance || this.#queue.of(utterance.id).length > 0;
    if (utterance.isClosing && !isAwaited) this.#utterances.forget(utterance);
  }
}

/** The utterances of one lane: what of them its child knows, and what it is still to be sent. */
class LaneUtterances {
  readonly #send: (message: ToChild) => void;
  readonly #known = new Map<number, LaneUtterance>();

  constructor(send: (message: ToChild) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#known.size;
  }

  get all(): readonly LaneUtterance[] {
    return [...this.#known.values()];
  }

  add(utterance: LaneUtterance): void {
    this.#known.set(utterance.id, utterance);
  }

  /** Has the child know the audio up to `end`. */
  sendAudio(utterance: LaneUtterance, end: number): void {
    const { id, language, prompt, audio } = utterance;
    if (utterance.sent < 0) {
      const told = prompt === undefined ? {} : { prompt };
      this.#send({ kind: 'open', utterance: id, language, ...told });
      utterance.sent = 0;
    }
    if (end <= utterance.sent) return;
    const pcm = audio.slice(utterance.sent, end);
    this.#send({ kind: 'audio', utterance: id, pcm });
    utterance.sent += pcm.length;
  }

  /** Forgets an utterance, here and in the child. */
  forget(utterance: LaneUtterance): void {
    if (!this.#known.delete(utterance.id)) return;
    if (utterance.sent >= 0) this.#send({ kind: 'close', utterance: utterance.id });
    utterance.sent = -1;
  }

  /** The child is gone, with all that it knew. */
  childGone(): void {
    for (const utterance of this.#known.values()) utterance.sent = -1;
  }
}
