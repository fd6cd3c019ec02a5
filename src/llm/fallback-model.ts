/** Fallback chain of language models in order of preference, and how the setting LLM builds it. */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { type LanguageModelCounts, UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from './language-model.ts';
import { PrefixWarming } from './prefix-warming.ts';
import { ProbedModel } from './probed-model.ts';

/** Which model answers and why that one; shaped like the reports of speech engines. */
export interface LanguageModelReport {
  readonly job: 'llm';
  readonly engine: string;
  readonly reason: string;
  readonly isFallback: boolean;
  /** How it falls short; absent for the model that was asked for. */
  readonly standIn?: 'rule_book' | 'second_choice';
  /** The best model of the order, while that cannot be used. */
  readonly replacement?: { readonly engine: string; readonly how: string };
}

/**
 * Asks the best model that works. One that fails a caller is skipped until a probe in the background, a real answer, has
 * succeeded.
 */
export class FallbackModel implements LanguageModel {
  readonly #candidates: readonly ProbedModel[];
  readonly #log: Logger;
  readonly #counts: LanguageModelCounts;
  readonly #warming: PrefixWarming;
  readonly #mayWarm: boolean;
  /** False until the first check; until then the start itself tells which model answers and why. */
  #isChecked = false;

  /** @param options.models the best first; at least one. */
  constructor(options: {
    readonly models: readonly LanguageModel[];
    readonly clock: Clock;
    readonly log: Logger;
    readonly counts?: LanguageModelCounts;
    /** Whether prompts are read ahead, which loads a model; true unless given. */
    readonly mayWarm?: boolean;
    /** Shared with models that stand in front of these; its own unless given. */
    readonly warming?: PrefixWarming;
  }) {
    if (options.models.length === 0) throw new RangeError('Cannot choose a model out of none');
    const { clock, log, counts = UNCOUNTED, mayWarm = true } = options;
    this.#log = log;
    this.#counts = counts;
    this.#mayWarm = mayWarm;
    this.#warming = options.warming ?? new PrefixWarming({ clock, counts });
    this.#candidates = options.models.map((model) => {
      const onFailure = (failure: string) => this.#warn(model, failure);
      return new ProbedModel(model, { clock, log, mayWarm, onFailure });
    });
  }

  /** Name of the model that would be asked now. */
  get name(): string {
    return this.#order()[0]?.model.name ?? '';
  }

  /** Whether the model that would be asked now ignores prompts. */
  get ignoresPrompts(): boolean {
    return this.#order()[0]?.model.ignoresPrompts === true;
  }

  /** The smallest context of the models: each of them may be asked for the next answer. */
  get contextTokens(): number | undefined {
    const windows = this.#candidates.flatMap(({ model }) => model.contextTokens ?? []);
    return windows.length === 0 ? undefined : Math.min(...windows);
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    request.signal.throwIfAborted();
    const answerEnds = this.#warming.answerBegins();
    try {
      yield* this.#answer(request);
    } finally {
      answerEnds();
    }
  }

  /** Asks the one that would answer now, if it is not busy. Never rejects. */
  async warm(prefix: ModelRequest): Promise<boolean> {
    const model = this.#order()[0]?.model;
    return model === undefined || !this.#mayWarm ? false : await this.#warming.warm(model, prefix);
  }

  async *#answer(request: ModelRequest): AsyncIterable<ModelEvent> {
    let lastError: unknown;
    const order = this.#order();
    for (const candidate of order) {
      const failed = yield* candidate.answer(request);
      if (failed === undefined) return;
      if (candidate !== order.at(-1)) this.#counts.fellBack(candidate.model.name);
      lastError = failed.error;
    }
    throw lastError;
  }

  /** Asks every model; passes when one of them would answer. */
  async check(): Promise<void> {
    await Promise.all(this.#candidates.map((candidate) => candidate.check()));
    this.#isChecked = true;
    const { problem } = this;
    if (problem !== undefined) throw new LanguageModelError(problem);
  }

  /** Why no model answers now, by the newest check, answer or probe; undefined while one does. */
  get problem(): string | undefined {
    const failures = this.#candidates.flatMap(({ failure }) => failure ?? []);
    if (failures.length < this.#candidates.length) return undefined;
    return `Cannot use any language model: ${failures.join('; ')}`;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#candidates.map((candidate) => candidate.stop()));
  }

  report(): LanguageModelReport {
    const current = this.#order()[0];
    const better = this.#candidates.slice(0, current ? this.#candidates.indexOf(current) : 0);
    const isFallback = better.length > 0;
    const standIn = this.ignoresPrompts ? 'rule_book' : 'second_choice';
    return {
      job: 'llm',
      engine: current?.model.name ?? '',
      reason: reasonFor(better, current),
      isFallback,
      ...((isFallback || standIn === 'rule_book') && { standIn }),
      ...replacementOf(better),
    };
  }

  /** Working models, best first; all of them when none works. */
  #order(): readonly ProbedModel[] {
    const working = this.#candidates.filter(({ failure }) => failure === undefined);
    return working.length > 0 ? working : this.#candidates;
  }

  #warn(model: LanguageModel, reason: string): void {
    const next = this.#order()[0];
    if (!this.#isChecked || next === undefined) return;
    const isLast = next.model === model;
    const fields = { model: model.name, reason, ...(!isLast && { next: next.model.name }) };
    this.#log.warn(fields, isLast ? 'last language model failed' : 'language model failed');
  }
}

/** The best model while it fails; its failure message says what to do. */
function replacementOf([best]: readonly ProbedModel[]): Pick<LanguageModelReport, 'replacement'> {
  if (best?.failure === undefined) return {};
  return { replacement: { engine: best.model.name, how: best.failure } };
}

function reasonFor(better: readonly ProbedModel[], current: ProbedModel | undefined): string {
  const failures = better.flatMap(({ failure }) => failure ?? []);
  if (failures.length > 0) return failures.join('; ');
  return current?.failure === undefined
    ? 'first of the order in LLM'
    : `nothing better is left, although: ${current.failure}`;
}

const LANGUAGE_MODEL_ENGINES = ['ollama', 'openai', 'llama-cpp', 'scripted'] as const;

/** One of `LANGUAGE_MODEL_ENGINES`. */
export type LanguageModelEngine = (typeof LANGUAGE_MODEL_ENGINES)[number];

/** Loads and makes one engine; called only for engines that the setting names. */
type LanguageModelMakers = Readonly<Record<LanguageModelEngine, () => Promise<LanguageModel>>>;

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
  /** Shared with models that stand in front of these; its own unless given. */
  readonly warming?: PrefixWarming;
}): Promise<FallbackModel> {
  const engines = parseLanguageModelOrder(options.setting);
  return new FallbackModel({
    models: await Promise.all(engines.map((engine) => options.makers[engine]())),
    clock: options.clock,
    log: options.log,
    counts: options.counts ?? UNCOUNTED,
    mayWarm: options.mayWarm ?? true,
    ...(options.warming !== undefined && { warming: options.warming }),
  });
}
