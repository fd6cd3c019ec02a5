/** Hearing in a worker thread: starts, watches and stops the thread. */

import { Worker } from 'node:worker_threads';
import { type Clock, waitAtMost } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ReceiveRing } from '../../media/sound-rings.ts';
import { type EnginePlan, reportOf } from '../models/engine-plan.ts';
import type { LoadOutcome } from '../models/model-files.ts';
import { logServerChange, type ServerState, serverReport } from '../network/speech-servers.ts';
import type { RecognitionServersOrder } from '../stt/network/recognition-server.ts';
import type { EngineReport, Hearing, MeasuredRecognition, SpeechListener } from './hearing.ts';
import type { FromThread, HearingOrder, ToThread } from './hearing-messages.ts';
import { ThreadedListener } from './threaded-listener.ts';

/** A thread that has not ended after this ends with the process: terminating it could crash the process. */
const STOP_WAIT_MS = 2000;

/** Pause before a crashed thread is restarted. */
const RESTART_WAIT_MS = 1000;

/** The tiny turn model of the repository is right four times in five, and was trained on synthetic voices only. */
const TINY_TURN_TRUST = 0.2;

interface OpenListener {
  readonly listener: ThreadedListener;
  readonly ring: ReceiveRing;
  readonly language: string;
  readonly prompt: string | undefined;
}

/** A plan for each job; without a plan for the turn model there is no report on it. */
export interface HearingPlans {
  readonly detector: EnginePlan;
  readonly recognizer: EnginePlan;
  readonly turn?: EnginePlan | undefined;
  /** Servers that recognise before the recogniser's processes do. */
  readonly servers?: RecognitionServersPlan | undefined;
}

/** Recognition servers, and the name of their engine. */
export interface RecognitionServersPlan {
  readonly engine: string;
  readonly order: RecognitionServersOrder;
}

type Started = Extract<FromThread, { kind: 'started' }>;

export class ThreadedHearing implements Hearing {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #plans: HearingPlans;
  readonly #recognizers: number;
  readonly #listeners = new Map<number, OpenListener>();
  #thread: Worker | null = null;
  /** Whether the thread has its models and takes messages. */
  #isUp = false;
  #reports: readonly EngineReport[] = [];
  #isTurnTiny = false;
  #serverStates: readonly ServerState[] = [];
  #measured: MeasuredRecognition | undefined;
  #lastId = 0;
  #started: Promise<void> | undefined;
  #isStopping = false;
  #cancelRestart: () => void = () => undefined;

  constructor(options: {
    clock: Clock;
    logger: Logger;
    plans: HearingPlans;
    /** Number of recogniser processes. */
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

  /** Ends the thread. `#started` stays, so that a later `start` reports the same failure. */
  async #end(): Promise<void> {
    this.#isStopping = true;
    this.#isUp = false;
    this.#cancelRestart();
    for (const { listener } of [...this.#listeners.values()]) listener.close();
    const thread = this.#thread;
    this.#thread = null;
    if (thread === null) return;
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    thread.postMessage({ kind: 'stop' } satisfies ToThread);
    await waitAtMost(this.#clock, STOP_WAIT_MS, ended);
    thread.unref();
  }

  open({ ring, language, prompt }: Parameters<Hearing['open']>[0]): SpeechListener {
    const id = this.#nextId();
    const listener = new ThreadedListener({
      id,
      clock: this.#clock,
      post: (message) => this.#post(message),
      nextRequest: () => this.#nextId(),
      onClose: () => this.#listeners.delete(id),
      onTimed: (tookMs) => this.#timed(tookMs),
    });
    const open = { listener, ring, language, prompt };
    this.#listeners.set(id, open);
    this.#openInThread(id, open);
    return listener;
  }

  reports(): readonly EngineReport[] {
    const { servers } = this.#plans;
    if (servers === undefined) return this.#reports;
    const facts = { job: 'stt', engine: servers.engine, states: this.#serverStates } as const;
    return this.#reports.map((local) =>
      local.job === 'stt' ? serverReport({ ...facts, local }) : local,
    );
  }

  measure(receivers: MeasuredRecognition): void {
    this.#measured = receivers;
    this.#countServers();
  }

  #timed(tookMs: number | null): void {
    const engine = this.reports().find(({ job }) => job === 'stt')?.engine ?? 'none';
    if (tookMs === null) this.#measured?.times.failed('stt', engine);
    else this.#measured?.times.answered('stt', engine, tookMs);
  }

  #openInThread(listener: number, { ring, language, prompt }: OpenListener): void {
    const { buffer, end: position } = ring;
    this.#post({ kind: 'open', listener, ring: buffer, position, language, prompt });
  }

  #post(message: ToThread): void {
    if (this.#isUp) this.#thread?.postMessage(message);
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Starts a thread; resolves once it has tried its models. */
  #launch(): Promise<Started> {
    const { detector, recognizer, turn } = this.#plans;
    const order: HearingOrder = {
      detector: detector.order,
      recognizer: recognizer.order,
      turn: turn?.order ?? null,
      recognizers: this.#recognizers,
      servers: this.#plans.servers?.order,
    };
    const url = new URL('./hearing-thread.ts', import.meta.url);
    const thread = new Worker(url, { workerData: order, execArgv: [] });
    this.#thread = thread;
    return new Promise((resolve, reject) => {
      thread.on('message', (message: FromThread) => {
        if (message.kind === 'started') {
          this.#isUp = this.#thread === thread;
          resolve(message);
        } else this.#receive(message);
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

  #receive(message: Exclude<FromThread, Started>): void {
    switch (message.kind) {
      case 'voice':
        this.#listeners.get(message.listener)?.listener.emit(message.event);
        break;
      case 'answer':
      case 'failed':
        this.#listeners.get(message.listener)?.listener.settle(message);
        break;
      case 'recognizer':
        this.#takeOutcome(message.outcome);
        break;
      case 'servers':
        this.#takeStates(message.states);
        break;
      case 'server-request':
        this.#measured?.servers.asked('stt', message.address, message.tookMs);
        break;
      case 'server-fallback':
        this.#measured?.servers.fellBack('stt');
        break;
      case 'note':
        this.#logger.warn(message.fields, message.message);
        break;
      default:
        message satisfies never;
    }
  }

  /** Updates the recogniser's report: processes may start late. */
  #takeOutcome(outcome: LoadOutcome): void {
    if (outcome.model === null) return;
    const report = reportOf(this.#plans.recognizer, outcome);
    this.#reports = this.#reports.map((one) => (one.job === 'stt' ? report : one));
  }

  /** Logs the servers that have failed or recovered since. */
  #takeStates(states: readonly ServerState[]): void {
    const before = new Map(this.#serverStates.map((state) => [state.address, state]));
    for (const state of states)
      logServerChange(this.#logger, 'stt', before.get(state.address), state);
    this.#serverStates = states;
    this.#countServers();
  }

  #countServers(): void {
    for (const { address, isUp } of this.#serverStates) {
      this.#measured?.servers.isUp('stt', address, isUp);
    }
  }

  /** Restarts a crashed thread. Listeners are opened again in the new one; pending recognitions fail. */
  #ended(thread: Worker): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    this.#isUp = false;
    for (const { listener } of this.#listeners.values())
      listener.failAll('the hearing thread ended');
    if (this.#isStopping || this.#reports.length === 0) return;
    this.#cancelRestart = this.#clock.after(RESTART_WAIT_MS, () => void this.#relaunch());
  }

  async #relaunch(): Promise<void> {
    try {
      await this.#launch();
      for (const [id, open] of this.#listeners) this.#openInThread(id, open);
    } catch {
      // The thread's end was logged, and `#ended` retries.
    }
  }
}
