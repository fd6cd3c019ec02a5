/** Language model adapter for llama.cpp in a child process, by the optional package node-llama-cpp. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from '../language-model.ts';
import {
  type AnswerLimits,
  AnswerWatch,
  CHECK_TIMEOUT_MS,
  DEFAULT_ANSWER_LIMITS,
} from '../model-server.ts';
import {
  AnswerChannel,
  type FromLlama,
  forkLlama,
  LlamaKeeper,
  type LlamaOrder,
  type LlamaProcess,
} from './llama-keeper.ts';

export class LlamaCppModel implements LanguageModel {
  readonly name: string;
  readonly #order: LlamaOrder;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #limits: AnswerLimits;
  readonly #keeper: LlamaKeeper;
  readonly #answers = new Map<number, AnswerChannel>();
  #lastId = 0;

  /** Starts nothing: the first check or question does. */
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

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    request.signal.throwIfAborted();
    const { name: modelName } = this;
    const watch = new AnswerWatch({
      ...{ clock: this.#clock, limits: this.#limits, modelName, signal: request.signal },
    });
    try {
      for await (const message of this.#ask('ask', request, watch.signal)) {
        watch.heard();
        if (message.kind === 'event') yield message.event;
        else request.onUsage?.({ promptTokens: message.promptTokens });
      }
    } catch (error) {
      throw watch.explain(error);
    } finally {
      watch.close();
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
    const late = Promise.withResolvers<never>();
    const cancel = this.#clock.after(CHECK_TIMEOUT_MS, () => {
      late.reject(new Error('it is still being loaded'));
    });
    try {
      await Promise.race([this.load(), late.promise]);
    } catch (error) {
      throw this.#unavailable(error);
    } finally {
      cancel();
    }
  }

  /**
   * Has the weights read into memory.
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
    for (const answer of this.#answers.values()) answer.fail(this.#unavailable('the server stops'));
  }

  /** Sends a request; cancels it when its reader stops early. */
  async *#ask(kind: 'ask' | 'warm', request: ModelRequest, signal: AbortSignal) {
    const { messages, tools, schema } = request;
    await orAborted(this.load(), signal);
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new AnswerChannel();
    this.#answers.set(id, answer);
    const stop = () => answer.fail(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const question = { messages, ...(tools && { tools }), ...(schema && { schema }) };
    this.#keeper.send({ kind, id, question });
    try {
      yield* answer.messages();
    } finally {
      signal.removeEventListener('abort', stop);
      this.#answers.delete(id);
      if (!answer.isWhole) this.#keeper.send({ kind: 'abort', id });
    }
  }

  #take(message: FromLlama): void {
    if (message.kind === 'loaded' || message.kind === 'not-loaded') return;
    const answer = this.#answers.get(message.id);
    if (message.kind === 'failed') answer?.fail(this.#unavailable(message.reason));
    else answer?.push(message);
  }

  #down(how: string): void {
    const { size: answers } = this.#answers;
    this.#log.warn({ model: this.name, how, answers }, 'language model’s process ended');
    const error = this.#unavailable(`its process ended with ${how}`);
    for (const answer of this.#answers.values()) answer.fail(error);
  }

  #unavailable(cause: unknown): LanguageModelError {
    if (cause instanceof LanguageModelError) return cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new LanguageModelError(`Cannot use "${this.name}": ${reason}`, { cause });
  }
}

/** Does not wait for a model that takes longer to load than anybody listens. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
