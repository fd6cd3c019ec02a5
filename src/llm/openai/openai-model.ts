/** A language model behind any server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio, Ollama. */
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type AnswerLimits, AnswerWatch, DEFAULT_ANSWER_LIMITS } from '../answer-watch.ts';
import {
  ANSWER_TOKENS_MAX,
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from '../language-model.ts';
import { CHECK_TIMEOUT_MS, DEFAULT_CONTEXT_TOKENS, fetchFromServer } from '../model-server.ts';
import { chatBody, readChunk, ToolCallJoiner } from './chat-completion.ts';
import { readEvents } from './server-sent-events.ts';

export class OpenAiModel implements LanguageModel {
  readonly name: string;
  readonly contextTokens: number;
  readonly #baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #model: string;
  readonly #clock: Clock;
  readonly #limits: AnswerLimits;

  /** @param options.baseUrl with its version, such as `http://127.0.0.1:8080/v1`. */
  constructor(options: {
    readonly baseUrl: string;
    readonly model: string;
    readonly apiKey?: string;
    /** What the server was started with; 8192 unless given. */
    readonly contextTokens?: number;
    readonly clock?: Clock;
    readonly limits?: AnswerLimits;
  }) {
    this.name = `openai/${options.model}`;
    this.contextTokens = options.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#apiKey = options.apiKey;
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
      const body = chatBody(this.#model, request, ANSWER_TOKENS_MAX);
      yield* this.#eventsOf(await this.#ask(body, watch.signal), watch, request);
    } catch (error) {
      throw watch.explain(error);
    } finally {
      watch.close();
    }
  }

  /** Servers keep the prompt of the request before; the one token that comes of it is not read. */
  async warm(prefix: ModelRequest): Promise<boolean> {
    const { stream_options: _, ...body } = chatBody(this.#model, prefix, 1);
    const response = await this.#ask({ ...body, stream: false }, prefix.signal);
    await response.body?.cancel();
    return true;
  }

  async check(): Promise<void> {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const init = { headers: this.#headers(), signal };
    try {
      const response = await fetchFromServer(this.#server, `${this.#baseUrl}/models`, init);
      await response.body?.cancel();
    } catch (error) {
      if (error instanceof LanguageModelError) throw error;
      throw new LanguageModelError(
        `Cannot reach ${this.#server}: no answer within ${CHECK_TIMEOUT_MS} ms`,
        { cause: error },
      );
    }
  }

  #ask(body: object, signal: AbortSignal): Promise<Response> {
    const init = { method: 'POST', body: JSON.stringify(body), headers: this.#headers(), signal };
    return fetchFromServer(this.#server, `${this.#baseUrl}/chat/completions`, init);
  }

  async *#eventsOf(
    response: Response,
    watch: AnswerWatch,
    { onUsage }: ModelRequest,
  ): AsyncIterable<ModelEvent> {
    if (response.body === null) throw this.#rubbish('its answer has no body');
    const calls = new ToolCallJoiner();
    let isWhole = false;
    for await (const data of readEvents(response.body)) {
      watch.heard();
      if (data === '[DONE]') {
        isWhole = true;
        break;
      }
      const { text, fragments, isLast, promptTokens } = readChunk(data);
      if (promptTokens !== undefined) onUsage?.({ promptTokens });
      calls.add(fragments);
      isWhole ||= isLast;
      if (text !== '') yield { kind: 'text', text };
    }
    if (!isWhole) throw this.#rubbish('its answer was cut off');
    for (const call of calls.finish()) yield { kind: 'tool-call', call };
  }

  #rubbish(state: string): LanguageModelError {
    return new LanguageModelError(`Cannot use ${this.#server}: ${state}`);
  }

  get #server(): string {
    return `model server at "${this.#baseUrl}"`;
  }

  #headers(): Record<string, string> {
    const headers = { 'Content-Type': 'application/json', Accept: 'text/event-stream' };
    return this.#apiKey === undefined
      ? headers
      : { ...headers, Authorization: `Bearer ${this.#apiKey}` };
  }
}
