/** A language model behind any server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio, Ollama. */
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type AnswerLimits, AnswerWatch, DEFAULT_ANSWER_LIMITS } from '../answer-watch.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from '../language-model.ts';
import { CHECK_TIMEOUT_MS, fetchFromServer } from '../model-server.ts';
import { chatBody, readChunk, ToolCallJoiner } from './chat-completion.ts';
import { readEvents } from './server-sent-events.ts';

/** An answer on the telephone is short; a model that rambles is cut. */
const ANSWER_TOKENS_MAX = 400;

export class OpenAiModel implements LanguageModel {
  readonly name: string;
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
    readonly clock?: Clock;
    readonly limits?: AnswerLimits;
  }) {
    this.name = `openai/${options.model}`;
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
      const body = JSON.stringify(chatBody(this.#model, request, ANSWER_TOKENS_MAX));
      const init = { method: 'POST', body, headers: this.#headers(), signal: watch.signal };
      const response = await fetchFromServer(
        this.#server,
        `${this.#baseUrl}/chat/completions`,
        init,
      );
      yield* this.#eventsOf(response, watch);
    } catch (error) {
      throw watch.explain(error);
    } finally {
      watch.close();
    }
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

  async *#eventsOf(response: Response, watch: AnswerWatch): AsyncIterable<ModelEvent> {
    if (response.body === null) throw this.#rubbish('its answer has no body');
    const calls = new ToolCallJoiner();
    let isWhole = false;
    for await (const data of readEvents(response.body)) {
      watch.heard();
      if (data === '[DONE]') {
        isWhole = true;
        break;
      }
      const { text, fragments, isLast } = readChunk(data);
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
