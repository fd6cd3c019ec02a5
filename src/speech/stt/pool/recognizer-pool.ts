/** The pool of recogniser processes behind one queue: an utterance's audio is sent ahead to one process; a free one runs its request. */
import type { Clock } from '../../../lib/clock.ts';
import type { EngineOrder } from '../../hearing/hearing-messages.ts';
import type { LoadOutcome } from '../../models/model-files.ts';
import type { Note } from './model-process.ts';
import {
  type CallRecognizer,
  type OpenUtterance,
  type PendingRecognition,
  type RecognitionOrder,
  RequestQueue,
  recognitionFailure,
  UtteranceAudio,
  type UtteranceOptions,
} from './recognition-request.ts';
import type { FromChild, Recognition } from './recognizer.ts';
import { type LaneRequest, RecognizerLane, type RecognizerProcess } from './recognizer-lane.ts';

/** Pauses between attempts to start: a lack of memory may pass soon, a broken file seldom. */
const RETRY_WAIT_MS_MIN = 1000;
const RETRY_WAIT_MS_MAX = 60_000;

/** A request that was running when two children died may be the reason. */
const ATTEMPTS_MAX = 2;

/** Weight of the newest answer time in the typical one: about the last ten count. */
const NEWEST_WEIGHT = 0.2;

export interface RecognizerPoolOptions extends Omit<EngineOrder, 'models'> {
  /** Number of processes, at least 1. */
  readonly size: number;
  readonly fork: () => RecognizerProcess;
  readonly clock: Clock;
  readonly note: Note;
  /** Called when the outcome changes after `start`: the model, and the number of missing processes with the reason. */
  readonly onOutcome?: (outcome: LoadOutcome) => void;
}

export class RecognizerPool {
  readonly #lanes: readonly RecognizerLane[];
  readonly #queue = new RequestQueue<LaneRequest>();
  /** Process that gets an utterance's audio ahead, by open utterance. */
  readonly #homes = new Map<OpenUtterance, RecognizerLane>();
  readonly #closing = new Set<OpenUtterance>();
  /** Running mean of the answer times; 0 before the first answer. */
  #typicalMs = 0;
  readonly #note: Note;
  readonly #clock: Clock;
  readonly #onOutcome: (outcome: LoadOutcome) => void;
  /** Reasons of the processes that could not be started. */
  readonly #missing = new Map<RecognizerLane, string>();
  readonly #cancelRetries = new Set<() => void>();
  #outcome: LoadOutcome = { model: null, failures: [] };
  /** Model of the processes that wait for the first call; null once they have been started. */
  #modelLeft: string | null = null;
  #isStopped = false;
  #lastId = 0;

  constructor(options: RecognizerPoolOptions) {
    const laneOptions = {
      ...options,
      onUp: () => this.#dispatch(),
      onAnswer: (request: LaneRequest, answer: FromChild, tookMs: number) =>
        this.#settle(request, answer, tookMs),
      onDown: (how: string, running: LaneRequest | null) => this.#down(how, running),
    };
    this.#note = options.note;
    this.#clock = options.clock;
    this.#onOutcome = options.onOutcome ?? (() => undefined);
    this.#lanes = Array.from({ length: options.size }, () => new RecognizerLane(laneOptions));
  }

  /** Whether a model is loaded, so that calls may join. */
  get hasModel(): boolean {
    return this.#outcome.model !== null;
  }

  /**
   * Starts one process with the first usable model. The others start with the first call: a server without calls is
   * ready sooner and holds one model in memory.
   *
   * @returns the outcome. Where no model could be loaded, the pool retries, and calls `onOutcome` after success.
   */
  async start(models: readonly string[]): Promise<LoadOutcome> {
    await this.#startFirst(models);
    if (this.#outcome.model === null) {
      this.#retry(async () => {
        await this.#startFirst(models);
        if (this.#outcome.model !== null) this.#onOutcome(this.#outcome);
        return this.#outcome.model !== null;
      });
    }
    return this.#outcome;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#cancelRetries) cancel();
    const running = this.#lanes.flatMap((lane) => lane.running ?? []);
    for (const request of [...this.#queue.clear(), ...running]) {
      request.reject(recognitionFailure('the recogniser is stopping'));
    }
    await Promise.all(this.#lanes.map((lane) => lane.stop()));
  }

  /** The pool as one call uses it. Calls take turns. */
  join(): CallRecognizer {
    this.#startOthers();
    const caller = {};
    return {
      open: (options) => this.#open(options, caller),
      append: (utterance, pcm) => this.#append(utterance, pcm),
      request: (utterance, order) => this.#request(utterance, order),
      close: (utterance) => this.#close(utterance),
    };
  }

  #startOthers(): void {
    const model = this.#modelLeft;
    if (model === null || this.#isStopped) return;
    this.#modelLeft = null;
    for (const lane of this.#lanes.slice(1)) void this.#startOther(lane, model);
  }

  async #startFirst(models: readonly string[]): Promise<void> {
    const [first] = this.#lanes;
    if (first === undefined || this.#isStopped) return;
    this.#outcome = await first.start(models);
    this.#modelLeft = this.#outcome.model;
  }

  async #startOther(lane: RecognizerLane, model: string): Promise<void> {
    if (await this.#hasStarted(lane, model)) return;
    this.#retry(() => this.#hasStarted(lane, model));
  }

  async #hasStarted(lane: RecognizerLane, model: string): Promise<boolean> {
    const wasMissing = this.#missing.has(lane);
    const { model: loaded, failures } = await lane.start([model]);
    if (this.#isStopped) return true;
    if (loaded === null) {
      this.#missing.set(lane, failures.join('; '));
      this.#note({ failures }, 'Recogniser could not be started: there is one less for now');
    } else this.#missing.delete(lane);
    const isMissing = loaded === null;
    if (isMissing || wasMissing) this.#onOutcome(this.#withShortage());
    return !isMissing;
  }

  /** Repeats the attempt with growing pauses until it succeeds. */
  #retry(attempt: () => Promise<boolean>, waitMs = RETRY_WAIT_MS_MIN): void {
    if (this.#isStopped) return;
    const cancel = this.#clock.after(waitMs, async () => {
      this.#cancelRetries.delete(cancel);
      if (!(await attempt())) this.#retry(attempt, Math.min(RETRY_WAIT_MS_MAX, 2 * waitMs));
    });
    this.#cancelRetries.add(cancel);
  }

  #withShortage(): LoadOutcome {
    const { drawback } = this.#outcome;
    const [why] = this.#missing.values();
    if (why === undefined) return this.#outcome;
    const { size } = this.#missing;
    const shortage = `${size} of ${this.#lanes.length} processes could not be started and ${size === 1 ? 'is' : 'are'} tried again: ${why}`;
    return {
      ...this.#outcome,
      drawback: drawback === undefined ? shortage : `${drawback}; ${shortage}`,
    };
  }

  #open(options: UtteranceOptions, caller: object): OpenUtterance {
    const utterance = { ...options, id: this.#nextId(), caller, audio: new UtteranceAudio() };
    const homes = [...this.#homes.values()];
    const loadOf = (lane: RecognizerLane) =>
      homes.filter((home) => home === lane).length + (lane.isUp ? 0 : 1000);
    const [leastBusy] = this.#lanes.toSorted((a, b) => loadOf(a) - loadOf(b));
    if (leastBusy !== undefined) this.#homes.set(utterance, leastBusy);
    return utterance;
  }

  #close(utterance: OpenUtterance): void {
    if (!this.#homes.has(utterance)) return;
    this.#closing.add(utterance);
    this.#sweep(utterance);
  }

  #append(utterance: OpenUtterance, pcm: Int16Array): void {
    utterance.audio.append(pcm);
    // A request covers the audio before it alone.
    const limits = this.#queue.of(utterance.id).map(({ endSample }) => endSample);
    const end = Math.min(utterance.audio.length, ...limits);
    this.#homeOf(utterance).sendAhead(utterance, end);
  }

  #request(utterance: OpenUtterance, order: RecognitionOrder): PendingRecognition {
    const { promise, resolve, reject } = Promise.withResolvers<Recognition>();
    const request = {
      ...{ ...order, id: this.#nextId(), utterance, endSample: utterance.audio.length },
      ...{ attempts: 0, isGivenUp: false, resolve, reject },
    };
    const cancel = () => this.#giveUp(request, 'it was cancelled');
    const refusal = this.#refusalOf(order);
    if (refusal !== null) {
      reject(recognitionFailure(refusal));
      return { answer: promise, cancel };
    }
    for (const stale of this.#queue.add(request)) {
      stale.reject(recognitionFailure('a newer request came'));
    }
    this.#preemptFor(request);
    this.#dispatch();
    return { answer: promise, cancel };
  }

  /** Says why a request cannot be answered in time, early enough for a fallback; null where it can. */
  #refusalOf({ priority, timeoutMs }: RecognitionOrder): string | null {
    if (timeoutMs === undefined || this.#lanes.some(({ isFree }) => isFree)) return null;
    const running = this.#lanes.filter((lane) => lane.running !== null).length;
    const before = this.#queue.countBefore(priority) + running;
    if ((before / this.#lanes.length + 1) * this.#typicalMs <= timeoutMs) return null;
    const first = before === 1 ? '1 request comes first' : `${before} requests come first`;
    return `${first}, which takes longer than ${timeoutMs} ms`;
  }

  /** Aborts a running partial request: it can be made again, and more urgent ones do not wait for it. */
  #preemptFor({ priority, utterance }: LaneRequest): void {
    if (priority === 'partial' || this.#laneFor(utterance) !== undefined) return;
    const home = this.#homeOf(utterance);
    const lanes = home.running?.utterance === utterance ? [home] : [home, ...this.#lanes];
    const partial = lanes
      .map(({ running }) => running)
      .find((running) => running?.priority === 'partial' && !running.isGivenUp);
    if (partial) this.#giveUp(partial, `a ${priority} request came`);
  }

  /** Rejects the request now; a child that runs it stops at its next step. */
  #giveUp(request: LaneRequest, reason: string): void {
    request.isGivenUp = true;
    request.reject(recognitionFailure(reason));
    if (this.#queue.remove(request)) this.#sweep(request.utterance);
    else this.#lanes.find(({ running }) => running === request)?.abort();
  }

  /** Has free processes run the next requests. */
  #dispatch(): void {
    for (;;) {
      const request = this.#queue.take(({ utterance }) => this.#laneFor(utterance) !== undefined);
      const lane = request && this.#laneFor(request.utterance);
      if (request === undefined || lane === undefined) return;
      const home = this.#homeOf(request.utterance);
      if (home !== lane) home.forget(request.utterance);
      this.#homes.set(request.utterance, lane);
      lane.run(request);
    }
  }

  /** The free process for an utterance: the one that has its audio, or any. None while the utterance is being recognised. */
  #laneFor(utterance: OpenUtterance): RecognizerLane | undefined {
    const home = this.#homeOf(utterance);
    if (home.isFree || home.running?.utterance === utterance) return home.isFree ? home : undefined;
    return this.#lanes.find(({ isFree }) => isFree);
  }

  #settle(request: LaneRequest, answer: FromChild, tookMs: number): void {
    if (answer.kind === 'answer') {
      const weight = this.#typicalMs === 0 ? 1 : NEWEST_WEIGHT;
      this.#typicalMs += (tookMs - this.#typicalMs) * weight;
      request.resolve(answer.recognition);
    } else request.reject(recognitionFailure(answer.reason));
    this.#sweep(request.utterance);
    this.#dispatch();
  }

  /** The running request is given to another child, once. */
  #down(how: string, request: LaneRequest | null): void {
    if (request === null) return;
    if (request.attempts < ATTEMPTS_MAX && !request.isGivenUp) this.#queue.putBack(request);
    else request.reject(recognitionFailure(`its process ended with ${how}`));
    this.#sweep(request.utterance);
    this.#dispatch();
  }

  /** Drops a closed utterance without waiting requests. */
  #sweep(utterance: OpenUtterance): void {
    if (!this.#closing.has(utterance)) return;
    const home = this.#homeOf(utterance);
    if (home.running?.utterance === utterance || this.#queue.of(utterance.id).length > 0) return;
    home.forget(utterance);
    this.#homes.delete(utterance);
    this.#closing.delete(utterance);
  }

  #homeOf(utterance: OpenUtterance): RecognizerLane {
    const home = this.#homes.get(utterance);
    if (home === undefined) throw new RangeError('The utterance is closed, or of another pool');
    return home;
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}
