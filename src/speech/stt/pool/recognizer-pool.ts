/** The pool of recogniser processes: an utterance begins at the least busy one, and moves to one that is idle. */
import type { Clock } from '../../../lib/clock.ts';
import type { EngineOrder } from '../../hearing/hearing-messages.ts';
import type { LoadOutcome } from '../../models/speech-engine.ts';
import type { Note } from './model-process.ts';
import {
  AnswerPace,
  CallerTurns,
  type CallRecognizer,
  type LaneUtterance,
  laneFailure,
  type PendingRecognition,
  type RecognitionOrder,
  type UtteranceOptions,
} from './recognition-request.ts';
import { RecognizerLane, type RecognizerProcess } from './recognizer-lane.ts';

/** Pauses between attempts to start: a lack of memory may pass soon, a broken file seldom. */
const RETRY_WAIT_MS_MIN = 1000;
const RETRY_WAIT_MS_MAX = 60_000;

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
  readonly #pace = new AnswerPace();
  readonly #homes = new WeakMap<LaneUtterance, RecognizerLane>();
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
    const shared = {
      ...options,
      pace: this.#pace,
      turns: new CallerTurns(),
      nextId: () => this.#nextId(),
      onChange: () => this.#balance(),
    };
    this.#note = options.note;
    this.#clock = options.clock;
    this.#onOutcome = options.onOutcome ?? (() => undefined);
    this.#lanes = Array.from({ length: options.size }, () => new RecognizerLane(shared));
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
    await Promise.all(this.#lanes.map((lane) => lane.stop()));
  }

  /** The pool as one call uses it. Calls take turns. */
  join(): CallRecognizer {
    this.#startOthers();
    const caller = {};
    return {
      open: (options) => this.#open(options, caller),
      append: (utterance, pcm) => this.#homeOf(utterance).append(utterance, pcm),
      request: (utterance, order) => this.#request(utterance, order),
      close: (utterance) => this.#homeOf(utterance).close(utterance),
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

  #open(options: UtteranceOptions, caller: object): LaneUtterance {
    const lane = this.#lanes.reduce((least, other) => (other.load < least.load ? other : least));
    const utterance = lane.open(options, caller);
    this.#homes.set(utterance, lane);
    return utterance;
  }

  #request(utterance: LaneUtterance, order: RecognitionOrder): PendingRecognition {
    const idle = this.#lanes.find(({ isIdle }) => isIdle);
    if (idle === undefined) {
      const refusal = this.#refusalOf(order);
      if (refusal !== null) return refusal;
    } else if (!this.#homeOf(utterance).isIdle) {
      this.#move(this.#homeOf(utterance), idle, utterance);
    }
    return this.#homeOf(utterance).request(utterance, order);
  }

  /** Refuses a request that cannot be answered in time, early enough for a fallback. */
  #refusalOf({ priority, timeoutMs }: RecognitionOrder): PendingRecognition | null {
    if (timeoutMs === undefined) return null;
    const before = this.#lanes.reduce((sum, lane) => sum + lane.countBefore(priority), 0);
    if (this.#pace.isInTime(before / this.#lanes.length, timeoutMs)) return null;
    const first = before === 1 ? '1 request comes first' : `${before} requests come first`;
    const reason = `${first}, which takes longer than ${timeoutMs} ms`;
    return { answer: Promise.reject(laneFailure(reason)), cancel: () => undefined };
  }

  /** Moves waiting utterances to idle processes. */
  #balance(): void {
    for (const idle of this.#lanes) {
      const busy = this.#lanes.find((lane) => lane !== idle && lane.hasMovable);
      if (idle.isIdle && busy !== undefined) this.#move(busy, idle);
    }
  }

  #move(from: RecognizerLane, to: RecognizerLane, wanted?: LaneUtterance): void {
    const moving = from.giveAway(wanted);
    if (moving === null) return;
    this.#homes.set(moving.utterance, to);
    to.adopt(moving);
  }

  #homeOf(utterance: LaneUtterance): RecognizerLane {
    const home = this.#homes.get(utterance);
    if (home === undefined) throw new RangeError('The utterance is of another pool');
    return home;
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}
