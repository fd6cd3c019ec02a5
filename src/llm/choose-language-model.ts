/** Builds the chain of language models from the setting LLM. */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { type LanguageModelCounts, UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import { FallbackModel } from './fallback-model.ts';
import type { LanguageModel } from './language-model.ts';
import type { PrefixWarming } from './prefix-warming.ts';

const LANGUAGE_MODEL_ENGINES = ['ollama', 'openai', 'llama-cpp', 'scripted'] as const;

/** One of `LANGUAGE_MODEL_ENGINES`. */
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
