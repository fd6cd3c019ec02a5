/** Language model adapter for llama.cpp in a child process, by the optional package node-llama-cpp. */

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { type Clock, TimeLimit, unlessAborted } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from '../language-model.ts';
import {
  type AnswerLimits,
  type AnswerWatch,
  CHECK_TIMEOUT_MS,
  DEFAULT_ANSWER_LIMITS,
  watchedAnswer,
} from '../model-server.ts';
import {
  type FromLlama,
  forkLlama,
  LlamaKeeper,
  type LlamaOrder,
  type LlamaProcess,
} from './llama-keeper.ts';

type Part = Extract<FromLlama, { readonly kind: 'event' | 'done' }>;

/** llama.cpp in a child process. */
export class LlamaCppModel implements LanguageModel {
  readonly name: string;
  readonly #order: LlamaOrder;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #limits: AnswerLimits;
  readonly #keeper: LlamaKeeper;
  readonly #answers = new Map<number, ReadableStreamDefaultController<Part>>();
  #lastId = 0;

  /** Starts no process: the first check or request does. */
  constructor(options: {
    readonly order: LlamaOrder;
    readonly clock: Clock;
    readonly log: Logger;
    readonly limits?: AnswerLimits;
    readonly fork?: () => LlamaProcess;
  }) {
    this.name = `llama-cpp/${basename(options.order.file, '.gguf')}`;
    this.#order = options.order;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#limits = options.limits ?? DEFAULT_ANSWER_LIMITS;
    this.#keeper = new LlamaKeeper({
      fork: options.fork ?? forkLlama,
      clock: options.clock,
      order: options.order,
      onMessage: (message) => this.#take(message),
      onDown: (how) => this.#down(how),
    });
  }

  get contextTokens(): number {
    return this.#keeper.contextTokens;
  }

  stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const options = { clock: this.#clock, limits: this.#limits, modelName: this.name };
    return watchedAnswer(options, request, (watch) => this.#answer(request, watch));
  }

  async *#answer(request: ModelRequest, watch: AnswerWatch): AsyncIterable<ModelEvent> {
    for await (const message of this.#ask('ask', request, watch.signal)) {
      watch.heard();
      if (message.kind === 'event') yield message.event;
      else request.onUsage?.({ promptTokens: message.promptTokens });
    }
  }

  async warm(prefix: ModelRequest): Promise<boolean> {
    let promptTokens = 0;
    for await (const message of this.#ask('warm', prefix, prefix.signal)) {
      if (message.kind === 'done') promptTokens = message.promptTokens;
    }
    return promptTokens > 0;
  }

  /** Starts loading, unless it has begun. */
  async check(): Promise<void> {
    const reason = 'it is still being loaded';
    using limit = new TimeLimit(this.#clock, CHECK_TIMEOUT_MS, { reason });
    try {
      await unlessAborted(this.load(), limit.signal);
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  /**
   * Loads the weights into memory.
   *
   * @throws {LanguageModelError} saying what is missing and what to do.
   */
  async load(): Promise<void> {
    const { file } = this.#order;
    try {
      if (!existsSync(file)) throw new Error(`there is no file "${file}"; put a GGUF model there`);
      await this.#keeper.ready();
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  /** Safe to call twice. */
  async stop(): Promise<void> {
    await this.#keeper.stop();
    this.#failAll(this.#unavailable('the server stops'));
  }

  /** Sends a request; cancels it when its reader stops early. */
  async *#ask(kind: 'ask' | 'warm', request: ModelRequest, signal: AbortSignal) {
    const { messages, tools, schema } = request;
    // A model may take longer to load than the caller listens.
    await unlessAborted(this.load(), signal);
    this.#lastId += 1;
    const id = this.#lastId;
    // The engine writes no more tokens than an answer may have, so the queue is never longer than that.
    const parts = new ReadableStream<Part>({
      start: (answer) => void this.#answers.set(id, answer),
      cancel: () => void this.#answers.delete(id),
    });
    const stop = () => this.#fail(id, signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const question = { messages, ...(tools && { tools }), ...(schema && { schema }) };
    this.#keeper.send({ kind, id, question });
    let isWhole = false;
    try {
      for await (const part of parts) {
        isWhole = part.kind === 'done';
        yield part;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      if (!isWhole) this.#keeper.send({ kind: 'abort', id });
    }
  }

  #take(message: FromLlama): void {
    if (message.kind === 'loaded' || message.kind === 'not-loaded') return;
    if (message.kind === 'failed') {
      this.#fail(message.id, this.#unavailable(message.reason));
      return;
    }
    const answer = this.#answers.get(message.id);
    answer?.enqueue(message);
    if (message.kind !== 'done') return;
    this.#answers.delete(message.id);
    answer?.close();
  }

  /** Ends an answer with an error, which discards its unread pieces. */
  #fail(id: number, error: unknown): void {
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    answer?.error(error);
  }

  #failAll(error: Error): void {
    for (const id of [...this.#answers.keys()]) this.#fail(id, error);
  }

  #down(how: string): void {
    const { size: answers } = this.#answers;
    this.#log.warn({ model: this.name, how, answers }, 'language model’s process ended');
    this.#failAll(this.#unavailable(`its process ended with ${how}`));
  }

  #unavailable(cause: unknown): LanguageModelError {
    if (cause instanceof LanguageModelError) return cause;
    return new LanguageModelError(`Cannot use "${this.name}": ${messageOf(cause)}`, { cause });
  }
}
