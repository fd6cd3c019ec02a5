/** Those who wait for one recogniser process: audio goes ahead, requests one by one, a death is made good. */
import type { Clock } from '../lib/clock.ts';
import { RecognitionError } from './hearing.ts';
import {
  type LaneRequest,
  type LaneUtterance,
  newRequest,
  type PendingRecognition,
  type RecognitionOrder,
} from './lane-request.ts';
import { RecognizerKeeper } from './recognizer-keeper.ts';
import type { FromChild, LoadOutcome } from './recognizer-messages.ts';
import type { RecognizerProcess } from './recognizer-process.ts';
import { RequestQueue } from './request-queue.ts';
import { UtteranceAudio } from './utterance-audio.ts';

/** Audio is sent ahead in pieces of 128 ms: few messages, and little left to do at the end. */
const SEND_SAMPLES = 1024;

/** A child that has not come to its next step after this long never will. */
const ABORT_WAIT_MS = 10_000;

/** A request that has twice been under way when its child died may well be the reason. */
const ATTEMPTS_MAX = 2;

/** Writes a line to the log. Never with callers' words. */
export type Note = (fields: object, message: string) => void;

export class RecognizerLane {
  /** Calls that stick to this lane. */
  calls = 0;
  readonly #clock: Clock;
  readonly #note: Note;
  readonly #keeper: RecognizerKeeper;
  readonly #utterances = new Map<number, LaneUtterance>();
  readonly #queue = new RequestQueue<LaneRequest>();
  #running: LaneRequest | null = null;
  #cancelWatch: () => void = () => undefined;
  #lastId = 0;

  constructor(options: {
    fork: () => RecognizerProcess;
    clock: Clock;
    moduleUrl: string;
    note: Note;
  }) {
    this.#clock = options.clock;
    this.#note = options.note;
    this.#keeper = new RecognizerKeeper({
      fork: options.fork,
      clock: options.clock,
      moduleUrl: options.moduleUrl,
      listener: {
        onUp: () => this.#up(),
        onDown: (how) => this.#down(how),
        onMessage: (message) => this.#settle(message),
      },
    });
  }

  /** Starts the process with the first of the models that can be loaded. */
  start(models: readonly string[]): Promise<LoadOutcome> {
    return this.#keeper.start(models);
  }

  async stop(): Promise<void> {
    const waiting = [...this.#queue.clear(), ...(this.#running === null ? [] : [this.#running])];
    this.#running = null;
    this.#cancelWatch();
    for (const request of waiting) request.reject(failure('the recogniser is stopping'));
    await this.#keeper.stop();
  }

  /** Begins an utterance. */
  open(language: string): LaneUtterance {
    this.#lastId += 1;
    const utterance = {
      id: this.#lastId,
      language,
      audio: new UtteranceAudio(),
      sent: -1,
      isClosing: false,
    };
    this.#utterances.set(utterance.id, utterance);
    return utterance;
  }

  append(utterance: LaneUtterance, pcm: Int16Array): void {
    utterance.audio.append(pcm);
    if (utterance.audio.length - utterance.sent < SEND_SAMPLES || !this.#keeper.isUp) return;
    // Whoever asked first shall not hear what came later.
    const limits = this.#queue.of(utterance.id).map(({ endSample }) => endSample);
    this.#sendAudio(utterance, Math.min(utterance.audio.length, ...limits));
  }

  /** Forgets the utterance, once what was asked about it is answered. */
  close(utterance: LaneUtterance): void {
    utterance.isClosing = true;
    this.#sweep(utterance);
  }

  /** Recognises what the utterance holds now. */
  request(utterance: LaneUtterance, order: RecognitionOrder): PendingRecognition {
    this.#lastId += 1;
    const { request, answer } = newRequest(this.#lastId, utterance, order);
    for (const stale of this.#queue.add(request)) stale.reject(failure('a newer request came'));
    this.#preemptFor(request);
    this.#dispatch();
    return { answer, cancel: () => this.#giveUp(request, 'it was cancelled') };
  }

  /** Tells the one who asked now, and lets the child know at its next step. */
  #giveUp(request: LaneRequest, reason: string): void {
    request.isGivenUp = true;
    request.reject(failure(reason));
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
    this.#sendAudio(request.utterance, request.endSample);
    this.#keeper.send({
      kind: 'transcribe',
      utterance: request.utterance.id,
      request: request.id,
      isFinal: request.priority !== 'partial',
    });
  }

  #sendAudio(utterance: LaneUtterance, end: number): void {
    const { id, language, audio } = utterance;
    if (utterance.sent < 0) {
      this.#keeper.send({ kind: 'open', utterance: id, language });
      utterance.sent = 0;
    }
    if (end <= utterance.sent) return;
    const pcm = audio.slice(utterance.sent, end);
    this.#keeper.send({ kind: 'audio', utterance: id, pcm });
    utterance.sent += pcm.length;
  }

  #settle(message: FromChild): void {
    if (message.kind === 'loaded' || message.request !== this.#running?.id) return;
    const request = this.#running;
    this.#running = null;
    this.#cancelWatch();
    if (message.kind === 'answer') request.resolve(message.recognition);
    else request.reject(failure(message.reason));
    this.#sweep(request.utterance);
    this.#dispatch();
  }

  #up(): void {
    for (const utterance of this.#utterances.values()) {
      if (this.#queue.of(utterance.id).length === 0) {
        this.#sendAudio(utterance, utterance.audio.length);
      }
    }
    this.#dispatch();
  }

  /** All that the child knew is gone with it. What it was at is asked of the next one, once. */
  #down(how: string): void {
    this.#note({ how, waiting: this.#queue.length }, 'Recogniser ended: starting another');
    this.#cancelWatch();
    for (const utterance of this.#utterances.values()) utterance.sent = -1;
    const request = this.#running;
    this.#running = null;
    if (request === null) return;
    if (request.attempts < ATTEMPTS_MAX && !request.isGivenUp) this.#queue.putBack(request);
    else request.reject(failure(`its process ended with ${how}`));
    this.#sweep(request.utterance);
  }

  /** Forgets a closed utterance that nobody waits on. */
  #sweep(utterance: LaneUtterance): void {
    const isAwaited =
      this.#running?.utterance === utterance || this.#queue.of(utterance.id).length > 0;
    if (!utterance.isClosing || isAwaited || !this.#utterances.delete(utterance.id)) return;
    if (utterance.sent >= 0) this.#keeper.send({ kind: 'close', utterance: utterance.id });
  }
}

function failure(reason: string): RecognitionError {
  return new RecognitionError(`Cannot recognise the utterance: ${reason}`);
}
