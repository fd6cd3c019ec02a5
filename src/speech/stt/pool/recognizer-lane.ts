/** One recogniser process and its requests: audio is sent ahead, requests run one at a time, a crashed process is replaced. */
import type { Clock } from '../../../lib/clock.ts';
import type { EngineOrder } from '../../hearing/hearing-messages.ts';
import type { LoadOutcome } from '../../models/speech-engine.ts';
import { forkModelChild, type ModelChild, ModelProcess, type Note } from './model-process.ts';
import {
  AnswerPace,
  type CallerTurns,
  type LaneRequest,
  type LaneUtterance,
  laneFailure,
  type MovingUtterance,
  newRequest,
  type PendingRecognition,
  type RecognitionOrder,
  RequestQueue,
  UtteranceAudio,
  type UtteranceOptions,
} from './recognition-request.ts';
import type { FromChild, ToChild } from './recognizer.ts';

/** A recogniser's child process. */
export type RecognizerProcess = ModelChild<ToChild, FromChild>;

/** Forks a recogniser; it loads nothing before the message `load`. */
export function forkRecognizer(): RecognizerProcess {
  return forkModelChild(new URL('./recognizer-child.ts', import.meta.url));
}

export interface RecognizerLaneOptions extends Omit<EngineOrder, 'models'> {
  readonly fork: () => RecognizerProcess;
  readonly clock: Clock;
  readonly note: Note;
  /** Shared by the lanes of a pool, as the next two are. */
  readonly pace?: AnswerPace;
  readonly turns?: CallerTurns;
  readonly nextId?: () => number;
  /** Called when the process has become free, or has ended. */
  readonly onChange?: () => void;
}

/** Audio is sent ahead in pieces of 128 ms: few messages, and little audio left at the end. */
const SEND_SAMPLES = 1024;

/** A child that does not answer an abort for this long hangs. */
const ABORT_WAIT_MS = 10_000;

/** A request that was running when two children died may be the reason. */
const ATTEMPTS_MAX = 2;

export class RecognizerLane {
  readonly #clock: Clock;
  readonly #process: ModelProcess<ToChild, FromChild>;
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
    this.#queue = new RequestQueue(options.turns);
    this.#pace = options.pace ?? new AnswerPace();
    this.#nextId = options.nextId ?? (() => ++this.#lastId);
    this.#onChange = options.onChange ?? (() => undefined);
    const { fork, clock, note, moduleUrl, modules, threads, providers } = options;
    const loading = { moduleUrl, modules, threads, providers };
    this.#process = new ModelProcess({
      ...{ fork, clock, note, job: 'Recogniser', loading },
      onUp: () => this.#up(),
      onDown: (how) => this.#down(how),
      onMessage: (message) => this.#settle(message),
    });
    this.#utterances = new LaneUtterances((message) => this.#process.send(message));
  }

  /** Starts the process with the first usable model. */
  start(models: readonly string[]): Promise<LoadOutcome> {
    return this.#process.start(models);
  }

  async stop(): Promise<void> {
    const waiting = [...this.#queue.clear(), ...(this.#running === null ? [] : [this.#running])];
    this.#running = null;
    this.#cancelWatch();
    for (const request of waiting) request.reject(laneFailure('the recogniser is stopping'));
    await this.#process.stop();
  }

  /** Whether a request would run at once. */
  get isIdle(): boolean {
    return this.#process.isUp && this.#running === null && this.#queue.length === 0;
  }

  /** Amount of work, for comparison between lanes. */
  get load(): number {
    return this.#utterances.size + this.#queue.length + (this.#process.isUp ? 0 : 1000);
  }

  /** Whether a waiting request could move to another lane. */
  get hasMovable(): boolean {
    return this.#movable() !== undefined;
  }

  /** Number of requests before a new one of that priority. */
  countBefore(priority: RecognitionOrder['priority']): number {
    return this.#queue.countBefore(priority) + (this.#running === null ? 0 : 1);
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
    if (utterance.audio.length - utterance.sent < SEND_SAMPLES || !this.#process.isUp) return;
    // A request covers the audio before it alone.
    const limits = this.#queue.of(utterance.id).map(({ endSample }) => endSample);
    this.#utterances.sendAudio(utterance, Math.min(utterance.audio.length, ...limits));
  }

  /** Drops the utterance once its requests are answered. */
  close(utterance: LaneUtterance): void {
    utterance.isClosing = true;
    this.#sweep(utterance);
  }

  /** Recognises the audio that the utterance holds now. */
  request(utterance: LaneUtterance, order: RecognitionOrder): PendingRecognition {
    const { request, answer } = newRequest(this.#nextId(), utterance, order);
    request.giveUp = (reason) => this.#giveUp(request, reason);
    for (const stale of this.#queue.add(request)) stale.reject(laneFailure('a newer request came'));
    this.#preemptFor(request);
    this.#dispatch();
    return { answer, cancel: () => request.giveUp('it was cancelled') };
  }

  /**
   * Hands an utterance over to another lane, with its waiting requests.
   *
   * @param wanted default: that of the next request.
   * @returns null when it is being recognised and has to stay.
   */
  giveAway(wanted?: LaneUtterance): MovingUtterance | null {
    const utterance = wanted ?? this.#movable()?.utterance;
    if (utterance === undefined || this.#running?.utterance === utterance) return null;
    const requests = this.#queue.of(utterance.id);
    for (const request of requests) this.#queue.remove(request);
    this.#utterances.forget(utterance);
    return { utterance, requests };
  }

  /** Takes an utterance over from another lane. */
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

  /** Rejects the request now; the child stops at its next step. */
  #giveUp(request: LaneRequest, reason: string): void {
    request.isGivenUp = true;
    request.reject(laneFailure(reason));
    if (this.#queue.remove(request)) this.#sweep(request.utterance);
    else if (this.#running === request) this.#abort(request);
  }

  /** Aborts a running partial request: it can be made again, and more urgent ones do not wait for it. */
  #preemptFor({ priority }: LaneRequest): void {
    const running = this.#running;
    if (priority === 'partial' || running?.priority !== 'partial') return;
    this.#giveUp(running, `a ${priority} request came`);
  }

  #abort(request: LaneRequest): void {
    this.#process.send({ kind: 'abort', request: request.id });
    this.#cancelWatch();
    this.#cancelWatch = this.#clock.after(ABORT_WAIT_MS, () => this.#process.replace());
  }

  #dispatch(): void {
    if (this.#running !== null || !this.#process.isUp) return;
    const request = this.#queue.take();
    if (request === undefined) return;
    this.#running = request;
    request.attempts += 1;
    request.startedAtMs = this.#clock.nowMs();
    this.#utterances.sendAudio(request.utterance, request.endSample);
    this.#process.send({
      kind: 'transcribe',
      utterance: request.utterance.id,
      request: request.id,
      isFinal: request.priority !== 'partial',
    });
  }

  #settle(message: FromChild): void {
    if (message.request !== this.#running?.id) return;
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

  /** The running request is given to the next child, once. */
  #down(how: string): void {
    this.#cancelWatch();
    this.#utterances.childGone();
    const request = this.#running;
    this.#running = null;
    if (request !== null) this.#retry(request, how);
    this.#onChange();
  }

  #retry(request: LaneRequest, how: string): void {
    if (request.attempts < ATTEMPTS_MAX && !request.isGivenUp) this.#queue.putBack(request);
    else request.reject(laneFailure(`its process ended with ${how}`));
    this.#sweep(request.utterance);
  }

  /** Drops a closed utterance without waiting requests. */
  #sweep(utterance: LaneUtterance): void {
    const isAwaited =
      this.#running?.utterance === utterance || this.#queue.of(utterance.id).length > 0;
    if (utterance.isClosing && !isAwaited) this.#utterances.forget(utterance);
  }
}

/** The utterances of one lane, and how much of each its child has. */
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

  /** Sends the child the audio up to `end`. */
  sendAudio(utterance: LaneUtterance, end: number): void {
    const { id, language, prompt, audio } = utterance;
    if (utterance.sent < 0) {
      const hint = prompt === undefined ? {} : { prompt };
      this.#send({ kind: 'open', utterance: id, language, ...hint });
      utterance.sent = 0;
    }
    if (end <= utterance.sent) return;
    const pcm = audio.slice(utterance.sent, end);
    this.#send({ kind: 'audio', utterance: id, pcm });
    utterance.sent += pcm.length;
  }

  /** Drops an utterance, here and in the child. */
  forget(utterance: LaneUtterance): void {
    if (!this.#known.delete(utterance.id)) return;
    if (utterance.sent >= 0) this.#send({ kind: 'close', utterance: utterance.id });
    utterance.sent = -1;
  }

  /** Notes that the child has ended, with all its audio. */
  childGone(): void {
    for (const utterance of this.#known.values()) utterance.sent = -1;
  }
}
