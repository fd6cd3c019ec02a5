/** Supervises the llama.cpp child process: start, restart after a crash, stop. */
import type { Clock } from '../../lib/clock.ts';
import { type Child, ChildSupervisor, forkChild } from '../../lib/process/child-supervisor.ts';
import type { ChatMessage, ModelEvent, ToolDescription } from '../language-model.ts';

/** Large models take a minute from a cold disk. */
const LOAD_MS_MAX = 300_000;

/** Pause before another attempt, after a failed load or the end of a process that was ready for less than this. */
const REST_MS = 10_000;

/**
 * Loads the weights on request. Unlike a speech model it is not restarted in a loop after failures, because each
 * attempt reads gigabytes from disk.
 */
export class LlamaKeeper {
  readonly #clock: Clock;
  readonly #order: LlamaOrder;
  readonly #onDown: (how: string) => void;
  readonly #supervisor: ChildSupervisor<ToLlama, FromLlama, number>;
  /** Settled when the current process has loaded its model, or failed to. */
  #loading: Promise<void> | undefined;
  #failure: { readonly error: Error; readonly atMs: number } | undefined;
  #contextTokens: number | undefined;
  #upSinceMs = 0;
  #isStopping = false;

  /** @param options.onDown called when a process with a loaded model has ended, with all its answers. */
  constructor(options: {
    readonly fork: () => LlamaProcess;
    readonly clock: Clock;
    readonly order: LlamaOrder;
    readonly onMessage: (message: FromLlama) => void;
    readonly onDown: (how: string) => void;
  }) {
    const { fork, clock, order, onMessage, onDown } = options;
    this.#clock = clock;
    this.#order = order;
    this.#onDown = onDown;
    this.#supervisor = new ChildSupervisor({
      ...{ fork, clock, onMessage, startMsMax: LOAD_MS_MAX, restarts: false },
      startMessage: () => ({ kind: 'load', order }),
      stopMessage: { kind: 'stop' },
      startReportOf: (message) => {
        if (message.kind === 'loaded') return { isReady: true, value: message.contextTokens };
        if (message.kind === 'not-loaded') return { isReady: false, reason: message.reason };
        return null;
      },
      onUp: (contextTokens) => {
        this.#contextTokens = contextTokens;
        this.#upSinceMs = clock.nowMs();
      },
      onDown: (how) => this.#down(how),
    });
  }

  /** Context size that the model reports; the configured value before that. */
  get contextTokens(): number {
    return this.#contextTokens ?? this.#order.contextTokens;
  }

  /**
   * Starts the process where none runs, and waits until it has loaded its model.
   *
   * @throws {Error} with the reason of the failure; for 10 s without another attempt.
   */
  ready(): Promise<void> {
    if (this.#isStopping) return Promise.reject(new Error('the server stops'));
    const failure = this.#failure;
    if (failure !== undefined && this.#clock.nowMs() - failure.atMs < REST_MS) {
      return Promise.reject(failure.error);
    }
    this.#loading ??= this.#launch();
    return this.#loading;
  }

  send(message: ToLlama): void {
    this.#supervisor.send(message);
  }

  /** Ends the process: by message, by force after 1.5 s. Safe to call twice. */
  stop(): Promise<void> {
    this.#isStopping = true;
    return this.#supervisor.stop();
  }

  #launch(): Promise<void> {
    this.#failure = undefined;
    const loading = this.#supervisor.start().then(
      () => undefined,
      (error) => {
        this.#fail(error);
        throw error;
      },
    );
    // The waiting request gets the error, else the next one.
    loading.catch(() => undefined);
    return loading;
  }

  #fail(error: Error): void {
    this.#loading = undefined;
    this.#failure = { error, atMs: this.#clock.nowMs() };
  }

  #down(how: string): void {
    this.#fail(new Error(`its process ended with ${how}`));
    this.#onDown(how);
    // The next request does not wait for a load that can begin now.
    if (this.#clock.nowMs() - this.#upSinceMs >= REST_MS) this.#loading = this.#launch();
  }
}

/** The process with the weights as the server holds it. */
export type LlamaProcess = Child<ToLlama, FromLlama>;

/** Starts a child; it loads nothing before the message `load`. */
export function forkLlama(): LlamaProcess {
  return forkChild(new URL('./llama-child.ts', import.meta.url));
}

/** Model to load, with its context and sequences. */
export interface LlamaOrder {
  /** Installation folder of `node-llama-cpp`. */
  readonly folder: string;
  /** Path of the GGUF file. */
  readonly file: string;
  /** Context of each call, in tokens; never more than the model has learned. */
  readonly contextTokens: number;
  /** Answers generated in parallel, each with a context of its own. */
  readonly sequences: number;
}

/** A request as it travels. */
export interface LlamaQuestion {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDescription[];
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** Messages to the child process. */
export type ToLlama =
  /** Comes first, once. */
  | { readonly kind: 'load'; readonly order: LlamaOrder }
  | { readonly kind: 'ask' | 'warm'; readonly id: number; readonly question: LlamaQuestion }
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'stop' };

/** Messages from the child process. */
export type FromLlama =
  | { readonly kind: 'loaded'; readonly contextTokens: number }
  | { readonly kind: 'not-loaded'; readonly reason: string }
  | { readonly kind: 'event'; readonly id: number; readonly event: ModelEvent }
  /** The last of a question. @param promptTokens of the whole prompt. */
  | { readonly kind: 'done'; readonly id: number; readonly promptTokens: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };
