/** A language model served by Ollama, through its own npm client. */
import { type ChatResponse, Ollama } from 'ollama';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type AnswerLimits, AnswerWatch, DEFAULT_ANSWER_LIMITS } from '../answer-watch.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from '../language-model.ts';
import { CHECK_TIMEOUT_MS, fetchFromServer } from '../model-server.ts';
import { toOllamaMessage, toOllamaTool } from './ollama-message.ts';
import { strictLines } from './strict-lines.ts';

/** Room for the newest part of a call and the answer, in tokens. */
const CONTEXT_TOKENS = 8192;

/** An answer on the telephone is short; a model that rambles is cut. */
const ANSWER_TOKENS_MAX = 400;

export class OllamaModel implements LanguageModel {
  readonly name: string;
  readonly #host: string;
  readonly #model: string;
  readonly #clock: Clock;
  readonly #limits: AnswerLimits;
  #calls = 0;

  /** @param options.host such as `http://127.0.0.1:11434`. */
  constructor(options: {
    readonly host: string;
    readonly model: string;
    readonly clock?: Clock;
    readonly limits?: AnswerLimits;
  }) {
    this.name = `ollama/${options.model}`;
    this.#host = options.host;
    this.#model = options.model;
    this.#clock = options.clock ?? systemClock;
    this.#limits = options.limits ?? DEFAULT_ANSWER_LIMITS;
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    request.signal.throwIfAborted();
    const { name: modelName } = this;
    const watch = new AnswerWatch({
      clock: this.#clock,
      limits: this.#limits,
      modelName,
      signal: request.signal,
    });
    try {
      const parts = await this.#client(watch.signal).chat(this.#body(request));
      for await (const part of parts) {
        watch.heard();
        yield* this.#eventsOf(part);
      }
    } catch (error) {
      throw watch.explain(error);
    } finally {
      // Leaving the client's loop does not close its connection; the server would go on generating.
      watch.close();
    }
  }

  async check(): Promise<void> {
    const { models } = await this.#client(AbortSignal.timeout(CHECK_TIMEOUT_MS))
      .list()
      .catch((error: unknown) => {
        throw this.#unavailable(error);
      });
    const wanted = this.#model.includes(':') ? this.#model : `${this.#model}:latest`;
    if (models.some(({ name }) => name === wanted)) return;
    throw new LanguageModelError(
      `Cannot use "${this.name}": Ollama at "${this.#host}" does not have it; run "ollama pull ${this.#model}"`,
    );
  }

  /**
   * Has the model loaded into memory, where it stays: the first call then does not wait for it.
   *
   * @throws {LanguageModelError}
   */
  async warm(signal: AbortSignal): Promise<void> {
    const request = { model: this.#model, prompt: '', keep_alive: -1, stream: false } as const;
    await this.#client(signal).generate(request);
  }

  /** One client a request: its `fetch` is the only way to end a request before the first byte of the answer. */
  #client(signal: AbortSignal): Ollama {
    const server = `Ollama at "${this.#host}"`;
    return new Ollama({
      host: this.#host,
      fetch: async (url: string | URL | Request, init?: RequestInit) => {
        const signals = init?.signal ? [signal, init.signal] : [signal];
        const request = { ...init, signal: AbortSignal.any(signals) };
        return strictLines(await fetchFromServer(server, url, request), server);
      },
    });
  }

  #body(request: ModelRequest) {
    return {
      model: this.#model,
      stream: true,
      think: false,
      keep_alive: -1,
      messages: request.messages.map(toOllamaMessage),
      tools: (request.tools ?? []).map(toOllamaTool),
      ...(request.schema === undefined ? {} : { format: request.schema }),
      options: { num_ctx: CONTEXT_TOKENS, num_predict: ANSWER_TOKENS_MAX, temperature: 0.3 },
    } as const;
  }

  *#eventsOf({ message }: ChatResponse): Iterable<ModelEvent> {
    if (message.content) yield { kind: 'text', text: message.content };
    for (const { function: called } of message.tool_calls ?? []) {
      this.#calls += 1;
      const id = `call_${this.#calls}`;
      yield { kind: 'tool-call', call: { id, name: called.name, arguments: called.arguments } };
    }
  }

  #unavailable(error: unknown): LanguageModelError {
    if (error instanceof LanguageModelError) return error;
    const reason = `no answer within ${CHECK_TIMEOUT_MS} ms`;
    return new LanguageModelError(`Cannot reach Ollama at "${this.#host}": ${reason}`, {
      cause: error,
    });
  }
}
