/** All that listens, as the main thread sees it: a thread of its own, started, watched and stopped here. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ReceiveRing } from '../../media/buffers/receive-ring.ts';
import { type EnginePlan, reportOf } from '../models/engine-plan.ts';
import type { LoadOutcome } from '../models/speech-engine.ts';
import type { Ear, EngineReport, Hearing } from './hearing.ts';
import type { FromThread, HearingOrder, ToThread } from './hearing-messages.ts';
import { ThreadedListener } from './threaded-listener.ts';

/** A thread that has not ended by then is left to the end of the process: terminating it could take the process down. */
const STOP_WAIT_MS = 2000;

/** After the thread died, which it never should. */
const RESTART_WAIT_MS = 1000;

/** Our own tiny turn model is right four times in five, and knows synthetic voices only. */
const TINY_TURN_TRUST = 0.2;

interface OpenEar {
  readonly ear: ThreadedListener;
  readonly heard: ReceiveRing;
  readonly language: string;
  readonly prompt: string | undefined;
}

/** The turn model may be left out: then nothing is reported of it either. */
export interface HearingPlans {
  readonly detector: EnginePlan;
  readonly recognizer: EnginePlan;
  readonly turn?: EnginePlan | undefined;
}

type Started = Extract<FromThread, { kind: 'started' }>;

export class ThreadedHearing implements Hearing {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #plans: HearingPlans;
  readonly #recognizers: number;
  readonly #ears = new Map<number, OpenEar>();
  #thread: Worker | null = null;
  /** The thread has its models and may be spoken to. */
  #isUp = false;
  #reports: readonly EngineReport[] = [];
  #isTurnTiny = false;
  #lastId = 0;
  #started: Promise<void> | undefined;
  #isStopping = false;
  #cancelRestart: () => void = () => undefined;

  constructor(options: {
    clock: Clock;
    logger: Logger;
    plans: HearingPlans;
    /** Recogniser processes. */
    recognizers: number;
  }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#plans = options.plans;
    this.#recognizers = options.recognizers;
  }

  get hasVoiceDetector(): boolean {
    return this.#reports.some(({ job, engine }) => job === 'vad' && engine !== 'energy');
  }

  get turnTrust(): number {
    const report = this.#reports.find(({ job }) => job === 'turn');
    if (report === undefined || report.engine === 'off') return 0;
    return this.#isTurnTiny ? TINY_TURN_TRUST : 1;
  }

  start(): Promise<void> {
    this.#started ??= this.#startOnce();
    return this.#started;
  }

  async #startOnce(): Promise<void> {
    this.#isStopping = false;
    const { detector, recognizer, turn } = await this.#launch();
    const plan = this.#plans.turn;
    this.#isTurnTiny = plan?.tiny.includes(turn.model ?? '') ?? false;
    try {
      this.#reports = [
        reportOf(this.#plans.detector, detector),
        reportOf(this.#plans.recognizer, recognizer),
        ...(plan === undefined ? [] : [reportOf(plan, turn)]),
      ];
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#started = undefined;
    await this.#end();
  }

  /** A start that failed stays the one that whoever asks again is told of. */
  async #end(): Promise<void> {
    this.#isStopping = true;
    this.#isUp = false;
    this.#cancelRestart();
    for (const { ear } of [...this.#ears.values()]) ear.close();
    const thread = this.#thread;
    this.#thread = null;
    if (thread === null) return;
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    thread.postMessage({ kind: 'stop' } satisfies ToThread);
    const waited = Promise.withResolvers<void>();
    const cancelWait = this.#clock.after(STOP_WAIT_MS, waited.resolve);
    await Promise.race([ended, waited.promise]);
    cancelWait();
    thread.unref();
  }

  open({ heard, language, prompt }: Parameters<Hearing['open']>[0]): Ear {
    const id = this.#nextId();
    const ear = new ThreadedListener({
      ear: id,
      clock: this.#clock,
      post: (message) => this.#post(message),
      nextRequest: () => this.#nextId(),
      onClose: () => this.#ears.delete(id),
    });
    const open = { ear, heard, language, prompt };
    this.#ears.set(id, open);
    this.#openInThread(id, open);
    return ear;
  }

  reports(): readonly EngineReport[] {
    return this.#reports;
  }

  #openInThread(ear: number, { heard, language, prompt }: OpenEar): void {
    const position = heard.end;
    this.#post({ kind: 'open', ear, heard: heard.buffer, position, language, prompt });
  }

  #post(message: ToThread): void {
    if (this.#isUp) this.#thread?.postMessage(message);
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Starts a thread; resolves when it has tried its models. */
  #launch(): Promise<Started> {
    const { detector, recognizer, turn } = this.#plans;
    const order: HearingOrder = {
      detector: detector.order,
      recognizer: recognizer.order,
      turn: turn?.order ?? null,
      recognizers: this.#recognizers,
    };
    const url = new URL('./hearing-thread.ts', import.meta.url);
    const thread = new Worker(url, { workerData: order, execArgv: [] });
    this.#thread = thread;
    return new Promise((resolve, reject) => {
      thread.on('message', (message: FromThread) => {
        if (message.kind === 'started') {
          this.#isUp = this.#thread === thread;
          resolve(message);
        } else this.#hear(message);
      });
      thread.on('error', (error) => {
        reject(error);
        this.#logger.error({ err: error }, 'Hearing thread failed');
      });
      thread.on('exit', () => {
        reject(new Error('Cannot listen: the hearing thread ended while it started'));
        this.#ended(thread);
      });
    });
  }

  #hear(message: Exclude<FromThread, Started>): void {
    switch (message.kind) {
      case 'voice':
        this.#ears.get(message.ear)?.ear.tell(message.event);
        break;
      case 'answer':
      case 'failed':
        this.#ears.get(message.ear)?.ear.settle(message);
        break;
      case 'recognizer':
        this.#takeOutcome(message.outcome);
        break;
      case 'note':
        this.#logger.warn(message.fields, message.message);
        break;
      default:
        message satisfies never;
    }
  }

  /** What is told of the recogniser changes while the server runs: processes come late, or not yet. */
  #takeOutcome(outcome: LoadOutcome): void {
    if (outcome.model === null) return;
    const report = reportOf(this.#plans.recognizer, outcome);
    this.#reports = this.#reports.map((one) => (one.job === 'stt' ? report : one));
  }

  /** The calls go on: their ears are opened again in a new thread; what was being recognised is lost. */
  #ended(thread: Worker): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    this.#isUp = false;
    for (const { ear } of this.#ears.values()) ear.failAll('the hearing thread ended');
    if (this.#isStopping || this.#reports.length === 0) return;
    this.#cancelRestart = this.#clock.after(RESTART_WAIT_MS, () => void this.#relaunch());
  }

  async #relaunch(): Promise<void> {
    try {
      await this.#launch();
      for (const [ear, open] of this.#ears) this.#openInThread(ear, open);
    } catch {
      // Its end was logged, and `#ended` tries again.
    }
  }
}
