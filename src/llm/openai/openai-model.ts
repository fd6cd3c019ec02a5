/** A language model behind any server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio, Ollama. */
import { z } from 'zod';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { isObject, jsonOf } from '../../lib/unknown-value.ts';
import {
  ANSWER_TOKENS_MAX,
  type ChatMessage,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
  type ModelServer,
  type ToolCall,
  type ToolDescription,
} from '../language-model.ts';
import {
  type AnswerLimits,
  type AnswerWatch,
  CHECK_TIMEOUT_MS,
  DEFAULT_ANSWER_LIMITS,
  DEFAULT_CONTEXT_TOKENS,
  fetchFromServer,
  serverWords,
  watchedAnswer,
} from '../model-server.ts';

/** A server that speaks the protocol of OpenAI. */
export class OpenAiModel implements ModelServer {
  readonly name: string;
  readonly contextTokens: number;
  readonly #baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #model: string;
  readonly #watched: { readonly clock: Clock; readonly limits: AnswerLimits };

  /** @param options.baseUrl with its version, such as `http://127.0.0.1:8080/v1`. */
  constructor(options: {
    readonly baseUrl: string;
    readonly model: string;
    readonly apiKey?: string;
    /** Context that the server was started with, in tokens; 8192 unless given. */
    readonly contextTokens?: number;
    readonly clock?: Clock;
    readonly limits?: AnswerLimits;
  }) {
    this.name = `openai/${options.model}`;
    this.contextTokens = options.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#apiKey = options.apiKey;
    this.#model = options.model;
    const { clock = systemClock, limits = DEFAULT_ANSWER_LIMITS } = options;
    this.#watched = { clock, limits };
  }

  stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const options = { ...this.#watched, modelName: this.name };
    return watchedAnswer(options, request, (watch) => this.#answer(request, watch));
  }

  /** Servers cache the prompt of the last request; the one token of the answer is not read. */
  async warm(prefix: ModelRequest): Promise<boolean> {
    const { stream_options: _, ...body } = chatBody(this.#model, prefix, 1);
    const response = await this.#ask({ ...body, stream: false }, prefix.signal);
    await response.body?.cancel();
    return true;
  }

  async check(): Promise<void> {
    const response = await this.#list(AbortSignal.timeout(CHECK_TIMEOUT_MS));
    await response.body?.cancel();
  }

  async modelNames(): Promise<readonly string[]> {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const response = await this.#list(signal);
    const text = await response.text().catch((error: unknown) => {
      throw this.#late(error);
    });
    const parsed = modelList.safeParse(jsonOf(text));
    if (!parsed.success) throw this.#rubbish('its list of models is none');
    return parsed.data.data.map(({ id }) => id);
  }

  withModel(model: string): OpenAiModel {
    return new OpenAiModel({
      ...{ baseUrl: this.#baseUrl, model, contextTokens: this.contextTokens },
      ...this.#watched,
      ...(this.#apiKey !== undefined && { apiKey: this.#apiKey }),
    });
  }

  async #list(signal: AbortSignal): Promise<Response> {
    const init = { headers: this.#headers(), signal };
    try {
      return await fetchFromServer(this.#server, `${this.#baseUrl}/models`, init);
    } catch (error) {
      throw error instanceof LanguageModelError ? error : this.#late(error);
    }
  }

  #late(cause: unknown): LanguageModelError {
    const state = `no answer within ${CHECK_TIMEOUT_MS} ms`;
    return new LanguageModelError(`Cannot reach ${this.#server}: ${state}`, { cause });
  }

  #ask(body: object, signal: AbortSignal): Promise<Response> {
    const init = { method: 'POST', body: JSON.stringify(body), headers: this.#headers(), signal };
    return fetchFromServer(this.#server, `${this.#baseUrl}/chat/completions`, init);
  }

  async *#answer(request: ModelRequest, watch: AnswerWatch): AsyncIterable<ModelEvent> {
    const body = chatBody(this.#model, request, ANSWER_TOKENS_MAX);
    const response = await this.#ask(body, watch.signal);
    if (response.body === null) throw this.#rubbish('its answer has no body');
    const calls = new ToolCallJoiner();
    let isWhole = false;
    let isStream = false;
    for await (const data of readEvents(response.body)) {
      watch.heard();
      isStream = true;
      if (data === '[DONE]') {
        isWhole = true;
        break;
      }
      const { text, fragments, isLast, promptTokens } = readChunk(data);
      if (promptTokens !== undefined) request.onUsage?.({ promptTokens });
      calls.add(fragments);
      isWhole ||= isLast;
      if (text !== '') yield { kind: 'text', text };
    }
    if (!isStream) {
      const type = response.headers.get('content-type') ?? 'an unnamed type';
      throw this.#rubbish(`it sent ${type} in the place of an event stream; see OPENAI_BASE_URL`);
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

/** @see OpenAI API reference, "List models" */
const modelList = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Characters of the longest event that is accepted; a real one has one token and its JSON. */
const EVENT_LENGTH_MAX = 1_000_000;

/**
 * Yields the `data` of each event. Comments and other fields are skipped.
 *
 * @throws {RangeError} when an event does not end.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > EVENT_LENGTH_MAX) throw new RangeError('Cannot read event: it does not end');
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      if (line !== '' || data.length === 0) continue;
      yield data.join('\n');
      data = [];
    }
  }
  if (rest.startsWith('data:')) data.push(rest.slice(5).trim());
  if (data.length > 0) yield data.join('\n');
}

const fragment = z.object({
  index: z.number().int().min(0).max(63).default(0),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

const chunk = z.object({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({ content: z.string().nullish(), tool_calls: z.array(fragment).nullish() })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z.object({ prompt_tokens: z.number().int().positive().nullish() }).nullish(),
});

interface ChatChunk {
  readonly text: string;
  readonly fragments: readonly z.infer<typeof fragment>[];
  readonly isLast: boolean;
  /** Present in one chunk: the last one, or one after it. */
  readonly promptTokens: number | undefined;
}

/**
 * Reads one chunk of a streamed answer.
 *
 * @throws {TypeError} when it is not a chunk or says that the server failed.
 */
export function readChunk(data: string): ChatChunk {
  const parsed = chunk.safeParse(jsonOf(data));
  if (!parsed.success) throw new TypeError('the answer is not a chat completion chunk');
  if (parsed.data.error !== undefined) {
    const words = serverWords(parsed.data);
    const state = 'the server failed while answering';
    throw new TypeError(words === '' ? state : `${state}: ${words}`);
  }
  const choice = parsed.data.choices[0];
  return {
    text: choice?.delta?.content ?? '',
    fragments: choice?.delta?.tool_calls ?? [],
    isLast: Boolean(choice?.finish_reason),
    promptTokens: parsed.data.usage?.prompt_tokens ?? undefined,
  };
}

/** No tool takes longer arguments; a server that sends more does not stop. */
const ARGUMENTS_LENGTH_MAX = 16_000;

/** Joins tool calls that come in pieces: the name first, then the arguments a few characters at a time. */
export class ToolCallJoiner {
  readonly #calls: { id: string; name: string; text: string }[] = [];

  /** @throws {RangeError} when the arguments of one do not end. */
  add(fragments: ChatChunk['fragments']): void {
    for (const { index, id, function: called } of fragments) {
      const call = this.#calls[index] ?? { id: '', name: '', text: '' };
      this.#calls[index] = call;
      call.id ||= id ?? '';
      call.name ||= called?.name ?? '';
      call.text += called?.arguments ?? '';
      if (call.text.length > ARGUMENTS_LENGTH_MAX) {
        throw new RangeError('the arguments of a tool call do not end');
      }
    }
  }

  /** A call whose arguments are no JSON object is passed on as such: the model may try again, and is not at fault as a server. */
  finish(): ToolCall[] {
    return this.#calls
      .filter((call) => call?.name)
      .map(({ id, name, text }, index) => ({
        id: id === '' ? `call_${index}` : id,
        name,
        ...argumentsFrom(text),
      }));
  }
}

/** @see OpenAI API reference, "Create chat completion" */
function chatBody(model: string, request: ModelRequest, tokensMax: number) {
  const tools = (request.tools ?? []).map(toTool);
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.3,
    max_tokens: tokensMax,
    messages: request.messages.map(toMessage),
    ...(tools.length === 0 ? {} : { tools }),
    ...(request.schema === undefined ? {} : { response_format: toFormat(request.schema) }),
  };
}

function toMessage(message: ChatMessage) {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  }
  const { role, content } = message;
  if (role !== 'assistant' || message.toolCalls === undefined) return { role, content };
  const toolCalls = message.toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role, content, tool_calls: toolCalls };
}

function toTool({ name, description, parameters }: ToolDescription) {
  return { type: 'function', function: { name, description, parameters } };
}

function toFormat(schema: Readonly<Record<string, unknown>>) {
  return { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };
}

function argumentsFrom(text: string): Pick<ToolCall, 'arguments' | 'isMalformed'> {
  const value: unknown = text.trim() === '' ? {} : jsonOf(text);
  return isObject(value) ? { arguments: value } : { arguments: {}, isMalformed: true };
}
