/** Builds the language model chain from the setting LLM, with timing of first tokens. */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import {
  type LanguageModelCounts,
  type ModelTimes,
  UNCOUNTED,
} from '../lib/metrics/model-metrics.ts';
import { FallbackModel } from './fallback-model.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from './language-model.ts';

export const LANGUAGE_MODEL_ENGINES = ['ollama', 'openai', 'llama-cpp', 'scripted'] as const;

export type LanguageModelEngine = (typeof LANGUAGE_MODEL_ENGINES)[number];

/** Loads and makes one engine; called only for engines that the setting names. */
export type LanguageModelMakers = Readonly<
  Record<LanguageModelEngine, () => Promise<LanguageModel>>
>;

/** The rule book stands in where no model is installed. */
const AUTO_ORDER: readonly LanguageModelEngine[] = ['ollama', 'scripted'];

/**
 * Reads the setting: `auto`, or engines in order of preference, such as `ollama,scripted`.
 *
 * @throws {RangeError} naming the word that is no engine.
 */
export function parseLanguageModelOrder(setting: string): readonly LanguageModelEngine[] {
  const words = setting.split(',').map((word) => word.trim().toLowerCase());
  if (words.length === 1 && words[0] === 'auto') return AUTO_ORDER;

  return [...new Set(words)].map((word) => {
    const engine = LANGUAGE_MODEL_ENGINES.find((known) => known === word);
    if (engine !== undefined) return engine;
    const known = LANGUAGE_MODEL_ENGINES.join(', ');
    throw new RangeError(
      `Cannot use language model "${word}": expected auto or a list out of ${known}`,
    );
  });
}

/**
 * Makes the models that the setting names. Call `check` on the result at start: then `report` tells which answers.
 *
 * @throws {RangeError} as `parseLanguageModelOrder`, and errors of the factories.
 */
export async function chooseLanguageModel(options: {
  readonly setting: string;
  readonly makers: LanguageModelMakers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts?: LanguageModelCounts;
  /** Whether prompts are read ahead; true unless given. */
  readonly mayWarm?: boolean;
}): Promise<FallbackModel> {
  const engines = parseLanguageModelOrder(options.setting);
  return new FallbackModel({
    models: await Promise.all(engines.map((engine) => options.makers[engine]())),
    clock: options.clock,
    log: options.log,
    counts: options.counts ?? UNCOUNTED,
    mayWarm: options.mayWarm ?? true,
  });
}

/** How long a server may take to say that it is there. */
export const CHECK_TIMEOUT_MS = 2000;

/** Room for the newest part of a call and the answer: fits a 4-billion-parameter model and the speech models on 16 GB. */
export const DEFAULT_CONTEXT_TOKENS = 8192;

/** Longest part of a server's error text that is passed on. */
const ERROR_LENGTH_MAX = 300;

/**
 * Asks a model server something, with the errors of connecting and refusing in words an operator can act on.
 *
 * @throws {LanguageModelError}
 * @throws the signal's reason when aborted.
 */
export async function fetchFromServer(
  server: string,
  url: string | URL | Request,
  init: RequestInit,
): Promise<Response> {
  const response = await connect(server, url, init);
  if (response.ok) return response;
  const text = (await response.text().catch(() => '')).slice(0, ERROR_LENGTH_MAX);
  throw new LanguageModelError(`Cannot use ${server}: it answered ${response.status}`, {
    cause: new Error(text),
  });
}

async function connect(
  server: string,
  url: string | URL | Request,
  init: RequestInit,
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new LanguageModelError(`Cannot reach ${server}: ${networkReason(error)}`, {
      cause: error,
    });
  }
}

/** `fetch` hides the reason of a failed connection in the error's cause. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'no such host';
  return code === '' ? 'the connection failed' : code;
}

/** Passes everything on to another model, and reports how long its first event took. */
export class MeasuredModel implements LanguageModel {
  readonly #model: LanguageModel;
  readonly #times: ModelTimes;
  readonly #clock: Clock;

  constructor(options: {
    readonly model: LanguageModel;
    readonly times: ModelTimes;
    readonly clock: Clock;
  }) {
    this.#model = options.model;
    this.#times = options.times;
    this.#clock = options.clock;
  }

  get name(): string {
    return this.#model.name;
  }

  get ignoresPrompts(): boolean | undefined {
    return this.#model.ignoresPrompts;
  }

  get contextTokens(): number | undefined {
    return this.#model.contextTokens;
  }

  /** What was aborted before its first event counts as neither answered nor failed. */
  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const startMs = this.#clock.nowMs();
    let hasAnswered = false;
    try {
      for await (const event of this.#model.stream(request)) {
        if (!hasAnswered) this.#times.answered('llm', this.name, this.#clock.nowMs() - startMs);
        hasAnswered = true;
        yield event;
      }
    } catch (error) {
      if (!request.signal.aborted) this.#times.failed('llm', this.name);
      throw error;
    }
  }

  /** Not timed: no turn waits for it. */
  async warm(prefix: ModelRequest): Promise<boolean> {
    return (await this.#model.warm?.(prefix)) ?? false;
  }

  check(): Promise<void> {
    return this.#model.check();
  }

  async stop(): Promise<void> {
    await this.#model.stop?.();
  }
}
