/** Supervises the llama.cpp child process: start, restart after a crash, stop. */
import type { Clock } from '../../lib/clock.ts';
import { type Child, forkChild, stopChild } from '../../lib/process/child-supervisor.ts';
import type { ChatMessage, ModelEvent, ToolDescription } from '../language-model.ts';

/** Large models take a minute from a cold disk. */
const LOAD_MS_MAX = 300_000;

/** What could not be loaded, or died soon after, is left alone for so long. */
const REST_MS = 10_000;

/** Told of what happens to the process. */
export interface LlamaListener {
  onMessage(message: FromLlama): void;
  /** The process is gone, with all that it was at. */
  onDown(how: string): void;
}

interface Failure {
  readonly error: Error;
  readonly atMs: number;
}

export class LlamaKeeper {
  readonly #fork: () => LlamaProcess;
  readonly #clock: Clock;
  readonly #order: LlamaOrder;
  readonly #listener: LlamaListener;
  #process: LlamaProcess | undefined;
  /** Settled when the process that runs has its model, or cannot have it. */
  #loading: Promise<void> | undefined;
  #failure: Failure | undefined;
  #contextTokens: number | undefined;
  #upSinceMs: number | undefined;
  #isStopping = false;

  constructor(options: {
    readonly fork: () => LlamaProcess;
    readonly clock: Clock;
    readonly order: LlamaOrder;
    readonly listener: LlamaListener;
  }) {
    this.#fork = options.fork;
    this.#clock = options.clock;
    this.#order = options.order;
    this.#listener = options.listener;
  }

  /** As the model reports it; the configured value before that. */
  get contextTokens(): number {
    return this.#contextTokens ?? this.#order.contextTokens;
  }

  /**
   * Starts the process if there is none, and waits until it has its model.
   *
   * @throws {Error} saying why it cannot have it; for 10 s without another try.
   */
  ready(): Promise<void> {
    if (this.#isStopping) return Promise.reject(new Error('the server stops'));
    const { error, atMs } = this.#failure ?? { error: undefined, atMs: 0 };
    if (error !== undefined && this.#clock.nowMs() - atMs < REST_MS) return Promise.reject(error);
    this.#loading ??= this.#launch();
    return this.#loading;
  }

  send(message: ToLlama): void {
    this.#process?.send(message);
  }

  /** Ends the process for good: by message, by force after 1.5 s. Safe to call twice. */
  stop(): Promise<void> {
    this.#isStopping = true;
    const process = this.#process;
    if (process === undefined) return Promise.resolve();
    return stopChild(process, { stop: { kind: 'stop' }, clock: this.#clock });
  }

  #launch(): Promise<void> {
    // That of an older process would hide what ends this one, and when.
    this.#failure = undefined;
    const process = this.#fork();
    this.#process = process;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(LOAD_MS_MAX, () => process.kill());
    process.onMessage((message) => {
      if (message.kind === 'loaded') {
        cancel();
        this.#loaded(message.contextTokens);
        resolve();
      } else if (message.kind === 'not-loaded') {
        this.#fail(new Error(message.reason));
        process.kill();
      } else this.#listener.onMessage(message);
    });
    process.onExit((how) => {
      cancel();
      this.#exited(how);
      reject(this.#failure?.error ?? new Error(`its process ended with ${how}`));
    });
    process.send({ kind: 'load', order: this.#order });
    // The waiting request gets the error, else the next one.
    promise.catch(() => undefined);
    return promise;
  }

  #loaded(contextTokens: number): void {
    this.#contextTokens = contextTokens;
    this.#upSinceMs = this.#clock.nowMs();
    this.#failure = undefined;
  }

  #fail(error: Error): void {
    this.#failure = { error, atMs: this.#clock.nowMs() };
  }

  #exited(how: string): void {
    const upSinceMs = this.#upSinceMs;
    const wasUp = upSinceMs !== undefined;
    const hasLived = wasUp && this.#clock.nowMs() - upSinceMs >= REST_MS;
    this.#process = undefined;
    this.#loading = undefined;
    this.#upSinceMs = undefined;
    if (this.#isStopping) return;
    if (!hasLived && this.#failure === undefined) {
      this.#fail(new Error(`its process ended with ${how}`));
    }
    if (wasUp) this.#listener.onDown(how);
    // The next caller shall not wait for what can begin now.
    if (hasLived) this.#loading = this.#launch();
  }
}

/** The process with the weights as the server holds it. */
export type LlamaProcess = Child<ToLlama, FromLlama>;

/** Starts a child; it loads nothing before the message `load`. */
export function forkLlama(): LlamaProcess {
  return forkChild(new URL('./llama-child.ts', import.meta.url));
}

/** What is loaded, and with how much room. */
export interface LlamaOrder {
  /** Where `node-llama-cpp` is installed. */
  readonly folder: string;
  /** Path of the GGUF file. */
  readonly file: string;
  /** For each of the calls; never more than the model has learned. */
  readonly contextTokens: number;
  /** Answers that are written at the same time, each with a memory of its own. */
  readonly sequences: number;
}

/** A request as it travels. */
export interface LlamaQuestion {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDescription[];
  readonly schema?: Readonly<Record<string, unknown>>;
}

export type ToLlama =
  /** Comes first, once. */
  | { readonly kind: 'load'; readonly order: LlamaOrder }
  | { readonly kind: 'ask' | 'warm'; readonly id: number; readonly question: LlamaQuestion }
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'stop' };

/** What the server and the process that holds the weights tell each other. */
export type FromLlama =
  | { readonly kind: 'loaded'; readonly contextTokens: number }
  | { readonly kind: 'not-loaded'; readonly reason: string }
  | { readonly kind: 'event'; readonly id: number; readonly event: ModelEvent }
  /** The last of a question. @param promptTokens of the whole prompt. */
  | { readonly kind: 'done'; readonly id: number; readonly promptTokens: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

type Part = Extract<FromLlama, { readonly kind: 'event' | 'done' }>;

/** The engine writes no more tokens than an answer may have, so the queue is never longer than that. */
export class AnswerChannel {
  readonly #parts: Part[] = [];
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;
  #isWhole = false;

  /** Whether the writer is done with it, well or not. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  push(part: Part): void {
    this.#isWhole ||= part.kind === 'done';
    this.#parts.push(part);
    this.#wake();
  }

  /** Ends it with an error; what has come before is not read any more. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** Yields what comes, until it is done. @throws what `fail` was given. */
  async *messages(): AsyncIterable<Part> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      const part = this.#parts.shift();
      if (part === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      yield part;
      if (part.kind === 'done') return;
    }
  }
}
