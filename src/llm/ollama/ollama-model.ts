/** A language model served by Ollama, through its own npm client. */
import { type ChatResponse, type Message, Ollama, type Tool } from 'ollama';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { jsonOf } from '../../lib/unknown-value.ts';
import {
  ANSWER_TOKENS_MAX,
  type ChatMessage,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
  type ModelServer,
  type ToolDescription,
} from '../language-model.ts';
import {
  type AnswerLimits,
  type AnswerWatch,
  CHECK_TIMEOUT_MS,
  DEFAULT_ANSWER_LIMITS,
  DEFAULT_CONTEXT_TOKENS,
  fetchFromServer,
  watchedAnswer,
} from '../model-server.ts';

/** Models whose abilities are remembered. */
const ANSWERING_MAX = 1000;

/** An entry of Ollama's list. */
interface InstalledModel {
  readonly name: string;
  readonly digest: string;
}

/** An Ollama server. */
export class OllamaModel implements ModelServer {
  readonly name: string;
  readonly contextTokens: number;
  readonly #host: string;
  readonly #model: string;
  readonly #watched: { readonly clock: Clock; readonly limits: AnswerLimits };
  /** Whether a model answers in a conversation, by its name and digest. */
  readonly #answering = new Map<string, boolean>();
  #calls = 0;

  /** @param options.host such as `http://127.0.0.1:11434`. */
  constructor(options: {
    readonly host: string;
    readonly model: string;
    /** Room for the newest part of a call and the answer; 8192 unless given. */
    readonly contextTokens?: number;
    readonly clock?: Clock;
    readonly limits?: AnswerLimits;
  }) {
    this.name = `ollama/${options.model}`;
    this.contextTokens = options.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
    this.#host = options.host;
    this.#model = options.model;
    const { clock = systemClock, limits = DEFAULT_ANSWER_LIMITS } = options;
    this.#watched = { clock, limits };
  }

  stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const options = { ...this.#watched, modelName: this.name };
    return watchedAnswer(options, request, (watch) => this.#answer(request, watch));
  }

  async *#answer(request: ModelRequest, watch: AnswerWatch): AsyncIterable<ModelEvent> {
    const parts = await this.#client(watch.signal).chat(this.#body(request));
    for await (const part of parts) {
      watch.heard();
      if (part.prompt_eval_count) request.onUsage?.({ promptTokens: part.prompt_eval_count });
      yield* this.#eventsOf(part);
    }
  }

  async check(): Promise<void> {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const names = (await this.#installed(signal)).map(({ name }) => name);
    const wanted = this.#model.includes(':') ? this.#model : `${this.#model}:latest`;
    if (names.includes(wanted)) return;
    throw new LanguageModelError(
      `Cannot use "${this.name}": Ollama at "${this.#host}" does not have it; run "ollama pull ${this.#model}"`,
    );
  }

  /** Leaves out models that only embed texts. */
  async modelNames(): Promise<readonly string[]> {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const names: string[] = [];
    for (const model of await this.#installed(signal)) {
      if (await this.#canAnswer(model, signal)) names.push(model.name);
    }
    return names;
  }

  async #installed(signal: AbortSignal): Promise<readonly InstalledModel[]> {
    try {
      const { models } = await this.#client(signal).list();
      if (Array.isArray(models)) return models;
      throw this.#strange();
    } catch (error) {
      throw this.#unavailable(error, signal);
    }
  }

  /** Whether a model can answer; true where Ollama does not tell, as before its version 0.6.4. */
  async #canAnswer({ name, digest }: InstalledModel, signal: AbortSignal): Promise<boolean> {
    const key = `${name} ${digest}`;
    const known = this.#answering.get(key);
    if (known !== undefined) return known;
    const told = await this.#client(signal)
      .show({ model: name })
      .catch(() => undefined);
    if (told === undefined) return true;
    const { capabilities }: { readonly capabilities?: readonly string[] } = told;
    const canAnswer = capabilities?.includes('completion') ?? true;
    if (this.#answering.size >= ANSWERING_MAX) this.#answering.clear();
    this.#answering.set(key, canAnswer);
    return canAnswer;
  }

  withModel(model: string): OllamaModel {
    const [host, contextTokens] = [this.#host, this.contextTokens];
    return new OllamaModel({ host, model, contextTokens, ...this.#watched });
  }

  /** Requests one token, the fewest that Ollama generates: 0 would mean no limit. */
  async warm(prefix: ModelRequest): Promise<boolean> {
    const body = this.#body(prefix);
    const options = { ...body.options, num_predict: 1 };
    await this.#client(prefix.signal).chat({ ...body, options, stream: false });
    return true;
  }

  /**
   * Has the model loaded into memory, where it stays: the first call then does not wait for it.
   *
   * @throws {LanguageModelError}
   */
  async load(signal: AbortSignal): Promise<void> {
    // With another context length than in calls, Ollama would load the model a second time for the first call.
    const options = { num_ctx: this.contextTokens };
    const request = { model: this.#model, prompt: '', keep_alive: -1, options } as const;
    await this.#client(signal)
      .generate({ ...request, stream: false })
      .catch((error: unknown) => {
        throw error instanceof LanguageModelError || signal.aborted ? error : this.#strange(error);
      });
  }

  /** One client a request: its `fetch` is the only way to end a request before the first byte of the answer. */
  #client(signal: AbortSignal): Ollama {
    const server = `Ollama at "${this.#host}"`;
    return new Ollama({
      host: this.#host,
      fetch: async (url: string | URL | Request, init?: RequestInit) => {
        const signals = init?.signal ? [signal, init.signal] : [signal];
        const request = { ...init, signal: AbortSignal.any(signals) };
        const response = await fetchFromServer(server, url, request);
        return strictLines(await withoutPage(response, server), server);
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
      options: { num_ctx: this.contextTokens, num_predict: ANSWER_TOKENS_MAX, temperature: 0.3 },
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

  /** @param cause of the client, which names neither the server nor what it sent. */
  #strange(cause?: unknown): LanguageModelError {
    const problem = `Cannot use Ollama at "${this.#host}": it does not speak like Ollama`;
    return new LanguageModelError(problem, { cause });
  }

  #unavailable(error: unknown, signal: AbortSignal): LanguageModelError {
    const late = `Cannot reach Ollama at "${this.#host}": no answer within ${CHECK_TIMEOUT_MS} ms`;
    const other = signal.aborted ? late : this.#strange().message;
    const problem = error instanceof LanguageModelError ? error.message : other;
    const remedy = 'start it with "ollama serve", or set OLLAMA_HOST';
    return new LanguageModelError(`${problem}; ${remedy}`, { cause: error });
  }
}

/** @see Ollama API, "Generate a chat completion" */
function toOllamaMessage(message: ChatMessage): Message {
  if (message.role === 'tool') {
    return { role: 'tool', content: message.content, tool_name: message.name };
  }
  const { role, content } = message;
  if (role !== 'assistant' || message.toolCalls === undefined) return { role, content };
  return {
    role,
    content,
    tool_calls: message.toolCalls.map((call) => ({
      function: { name: call.name, arguments: { ...call.arguments } },
    })),
  };
}

function toOllamaTool({ name, description, parameters }: ToolDescription): Tool {
  return { type: 'function', function: { name, description, parameters } };
}

/** Refuses a web page, such as that of a chat program or a proxy at this address. */
async function withoutPage(response: Response, server: string): Promise<Response> {
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  if (type !== 'text/html') return response;
  await response.body?.cancel();
  throw new LanguageModelError(`Cannot use ${server}: it sent ${type} in the place of JSON`);
}

/** A line is one token and its wrapping; a server that sends more than this at once is not Ollama. */
const LINE_LENGTH_MAX = 1_000_000;

/** Checks a streamed answer line by line as it is read. Other answers pass as they are. */
export function strictLines(response: Response, server: string): Response {
  const isStream = response.headers.get('content-type')?.includes('ndjson') ?? false;
  if (!isStream || response.body === null) return response;

  const decoder = new TextDecoder();
  let rest = '';
  const check = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (lines.every(isJson) && rest.length <= LINE_LENGTH_MAX) controller.enqueue(chunk);
      else controller.error(new LanguageModelError(`Cannot use ${server}: its answer is no JSON`));
    },
    flush(controller) {
      if (isJson(rest)) return;
      controller.error(new LanguageModelError(`Cannot use ${server}: its answer was cut off`));
    },
  });
  return new Response(response.body.pipeThrough(check), response);
}

function isJson(line: string): boolean {
  return line.trim() === '' || jsonOf(line) !== undefined;
}
