/** The recogniser processes: an utterance begins where there is least to do, and moves where it would wait for less. */
import type { Clock } from '../../../lib/clock.ts';
import { AnswerPace, CallerTurns } from '../../hearing/call-listener.ts';
import type { EngineOrder } from '../../hearing/hearing-messages.ts';
import type { LoadOutcome } from '../../models/speech-engine.ts';
import { laneFailure, type Note } from './lane-options.ts';
import type {
  CallDesk,
  LaneUtterance,
  PendingRecognition,
  RecognitionOrder,
  UtteranceOptions,
} from './lane-request.ts';
import { RecognizerLane } from './recognizer-lane.ts';
import type { RecognizerProcess } from './recognizer-process.ts';

export interface RecognizerPoolOptions extends Omit<EngineOrder, 'models'> {
  /** Processes, 1 at least. */
  readonly size: number;
  readonly fork: () => RecognizerProcess;
  readonly clock: Clock;
  readonly note: Note;
  /** Told what became of the processes after `start`: the model, and how many of them are missing and why. */
  readonly onOutcome?: (outcome: LoadOutcome) => void;
}

export class RecognizerPool {
  readonly #lanes: readonly RecognizerLane[];
  readonly #pace = new AnswerPace();
  readonly #homes = new WeakMap<LaneUtterance, RecognizerLane>();
  readonly #note: Note;
  readonly #clock: Clock;
  readonly #onOutcome: (outcome: LoadOutcome) => void;
  /** Processes that could not be started, and why. */
  readonly #missing = new Map<RecognizerLane, string>();
  readonly #tries = new Set<StartAgain>();
  #outcome: LoadOutcome = { model: null, failures: [] };
  /** What the processes that have not been started are to load; null where all have been. */
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

  /** Whether a model could be loaded, so that calls may join. */
  get hasModel(): boolean {
    return this.#outcome.model !== null;
  }

  /**
   * Starts one process, to see which model can be loaded. The others start with that one when the first call comes: a
   * server that nobody rings is ready sooner and needs the memory of one.
   *
   * @returns what came of it. Where no model could be loaded, that is tried again, and `onOutcome` told when it worked.
   */
  async start(models: readonly string[]): Promise<LoadOutcome> {
    await this.#startFirst(models);
    if (this.#outcome.model === null) {
      this.#tryAgain(async () => {
        await this.#startFirst(models);
        if (this.#outcome.model !== null) this.#onOutcome(this.#outcome);
        return this.#outcome.model !== null;
      });
    }
    return this.#outcome;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const again of this.#tries) again.stop();
    await Promise.all(this.#lanes.map((lane) => lane.stop()));
  }

  /** A desk for one call. Calls take turns. */
  join(): CallDesk {
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
    this.#tryAgain(() => this.#hasStarted(lane, model));
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

  #tryAgain(attempt: () => Promise<boolean>): void {
    if (this.#isStopped) return;
    const again = new StartAgain({ clock: this.#clock, attempt });
    this.#tries.add(again);
    again.start();
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

  /** What cannot be answered in time is refused now, when there is still time for something else. */
  #refusalOf({ priority, timeoutMs }: RecognitionOrder): PendingRecognition | null {
    if (timeoutMs === undefined) return null;
    const ahead = this.#lanes.reduce((sum, lane) => sum + lane.ahead(priority), 0);
    if (this.#pace.isInTime(ahead / this.#lanes.length, timeoutMs)) return null;
    const first = ahead === 1 ? '1 request comes first' : `${ahead} requests come first`;
    const reason = `${first}, which takes longer than ${timeoutMs} ms`;
    return { answer: Promise.reject(laneFailure(reason)), cancel: () => undefined };
  }

  /** Nobody waits while a process has nothing to do. */
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

/** What failed for want of memory or of a file on its way may work soon; what is broken is asked seldom. */
const WAIT_MS_MIN = 1000;
const WAIT_MS_MAX = 60_000;

/** Tries something until it works, with pauses that grow. */
class StartAgain {
  readonly #clock: Clock;
  readonly #attempt: () => Promise<boolean>;
  #waitMs = WAIT_MS_MIN;
  #isStopped = false;
  #cancel: () => void = () => undefined;

  /** @param options.attempt tells whether it worked; must not reject. */
  constructor(options: { readonly clock: Clock; readonly attempt: () => Promise<boolean> }) {
    this.#clock = options.clock;
    this.#attempt = options.attempt;
  }

  /** Tries after a pause. To be called once, after the first failure. */
  start(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#clock.after(this.#waitMs, () => void this.#try());
    this.#waitMs = Math.min(WAIT_MS_MAX, 2 * this.#waitMs);
  }

  /** Tries no more. Safe to call twice. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  async #try(): Promise<void> {
    const isDone = await this.#attempt();
    if (!isDone) this.start();
  }
}
