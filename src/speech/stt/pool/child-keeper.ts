/** Keeps one model's child process alive: starts it, starts it again when it dies, ends it politely. */
import type { Clock } from '../../../lib/clock.ts';
import { type Child, forkChild, stopChild } from '../../../lib/process/child.ts';
import type { LoadOutcome } from '../../models/speech-engine.ts';

/** Large models take seconds from a cold disk. */
const LOAD_MS_MAX = 60_000;

/** A child that lived shorter than this is likely to die the same way again. */
const LIFE_MS_MIN = 10_000;

const RESTART_WAIT_MS_MIN = 500;
const RESTART_WAIT_MS_MAX = 30_000;

/** Told of what happens to the process. */
export interface KeeperListener<FromChild> {
  /** A process has its model and knows nothing else yet. */
  onUp(): void;
  /** The process is gone, with all that it knew; another one will come. */
  onDown(how: string): void;
  onMessage(message: FromChild): void;
}

/** `ToChild` and `FromChild`: what parent and child say to each other besides `load`, `loaded` and `stop`. */
export class ChildKeeper<ToChild, FromChild> {
  readonly #fork: () => ModelChild<ToChild, FromChild>;
  readonly #clock: Clock;
  readonly #moduleUrl: string;
  readonly #loading: Pick<LoadOrder, 'modules' | 'threads'>;
  readonly #listener: KeeperListener<FromChild>;
  #models: readonly string[] = [];
  #process: ModelChild<ToChild, FromChild> | null = null;
  #isUp = false;
  #isStopping = false;
  #hasRun = false;
  #upSinceMs = 0;
  #restartWaitMs = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(options: {
    fork: () => ModelChild<ToChild, FromChild>;
    clock: Clock;
    moduleUrl: string;
    /** What else a child is told when it loads. */
    loading?: Pick<LoadOrder, 'modules' | 'threads'>;
    listener: KeeperListener<FromChild>;
  }) {
    this.#fork = options.fork;
    this.#clock = options.clock;
    this.#moduleUrl = options.moduleUrl;
    this.#loading = options.loading ?? {};
    this.#listener = options.listener;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Starts the process with the first of the models that can be loaded; that one stays. May be asked again when none could. */
  async start(models: readonly string[]): Promise<LoadOutcome> {
    this.#models = models;
    this.#isStopping = false;
    const outcome = await this.#launch();
    if (outcome.model === null) await this.stop();
    else this.#models = [outcome.model];
    return outcome;
  }

  send(message: ToChild): void {
    this.#process?.send(message);
  }

  /** Ends the process at once; another one is started. For one that hangs. */
  replace(): void {
    this.#process?.kill();
  }

  /** Ends the process for good: by message, by force after 1.5 s. */
  stop(): Promise<void> {
    this.#isStopping = true;
    this.#isUp = false;
    this.#cancelTimer();
    const process = this.#process;
    if (process === null) return Promise.resolve();
    return stopChild(process, { stop: { kind: 'stop' }, clock: this.#clock });
  }

  /** Forks and loads. The answer comes also when the process dies over it or takes too long. */
  #launch(): Promise<LoadOutcome> {
    const process = this.#fork();
    this.#process = process;
    return new Promise((resolve) => {
      this.#cancelTimer = this.#clock.after(LOAD_MS_MAX, () => process.kill());
      process.onMessage((message) => {
        if (isLoaded(message)) {
          this.#loaded(message.outcome);
          resolve(message.outcome);
        } else this.#listener.onMessage(message);
      });
      process.onExit((how) => {
        resolve({ model: null, failures: [this.#deathNotice(how)] });
        this.#exited(process, how);
      });
      process.send({
        kind: 'load',
        moduleUrl: this.#moduleUrl,
        models: this.#models,
        ...this.#loading,
      });
    });
  }

  #deathNotice(how: string): string {
    return `Cannot load "${this.#models.join('", "')}": its process ended with ${how}`;
  }

  #loaded(outcome: LoadOutcome): void {
    this.#cancelTimer();
    if (outcome.model === null || this.#isStopping) return;
    this.#isUp = true;
    this.#hasRun = true;
    this.#upSinceMs = this.#clock.nowMs();
    this.#listener.onUp();
  }

  #exited(process: ModelChild<ToChild, FromChild>, how: string): void {
    if (this.#process === process) this.#process = null;
    this.#cancelTimer();
    if (this.#isStopping) return;
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (wasUp) this.#listener.onDown(how);
    // A first start that fails is the caller's to judge; only what has once run is started again.
    if (this.#hasRun) this.#restartLater(wasUp);
  }

  #restartLater(wasUp: boolean): void {
    const isOldEnough = wasUp && this.#clock.nowMs() - this.#upSinceMs >= LIFE_MS_MIN;
    const waitMs = isOldEnough ? 0 : this.#restartWaitMs;
    this.#restartWaitMs = isOldEnough
      ? 0
      : Math.min(RESTART_WAIT_MS_MAX, Math.max(RESTART_WAIT_MS_MIN, 2 * this.#restartWaitMs));
    this.#cancelTimer = this.#clock.after(waitMs, () => void this.#relaunch());
  }

  async #relaunch(): Promise<void> {
    const { model } = await this.#launch();
    // The file went away meanwhile; `#exited` tries again later.
    if (model === null && !this.#isStopping) this.replace();
  }
}

/** More processes would each hold the model for little use. */
const PROCESSES_MAX = 8;

/** What one process may need with a model of the middle size. */
const BYTES_PER_PROCESS = 2 ** 30;

/**
 * As many processes as cores, so that nobody waits while a core is free; threads only where there are more cores than
 * processes, because two calls at once are served better by two threads apart than by two together.
 */
export function machineShare(machine: { readonly cores: number; readonly memoryBytes: number }): {
  readonly processes: number;
  readonly threads: number;
} {
  const { cores, memoryBytes } = machine;
  const fitting = Math.floor(memoryBytes / BYTES_PER_PROCESS);
  const processes = Math.max(1, Math.min(cores, PROCESSES_MAX, fitting));
  return { processes, threads: Math.max(1, Math.floor(cores / processes)) };
}

/** Comes first, once: load the first of these models that can be loaded. */
export interface LoadOrder {
  readonly kind: 'load';
  readonly moduleUrl: string;
  readonly models: readonly string[];
  /** For models that another module opens, which one. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  /** Threads of computing; default 1. */
  readonly threads?: number | undefined;
}

/** Let go of the model and end. */
export interface StopOrder {
  readonly kind: 'stop';
}

/** The answer to `LoadOrder`. */
export interface Loaded {
  readonly kind: 'loaded';
  readonly outcome: LoadOutcome;
}

export type ModelChild<ToChild, FromChild> = Child<
  ToChild | LoadOrder | StopOrder,
  FromChild | Loaded
>;

/** Starts a child; it loads nothing before the message `load`. */
export function forkModelChild<ToChild extends object, FromChild>(
  file: URL,
): ModelChild<ToChild, FromChild> {
  return forkChild(file);
}

/** Tells the answer to `LoadOrder` from all else that a child says. */
function isLoaded(message: unknown): message is Loaded {
  return (message as Loaded).kind === 'loaded';
}
