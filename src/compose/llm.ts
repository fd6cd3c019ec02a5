/** Composition root: which language models there are, and in which order they are asked. */
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { LanguageModelCounts, ModelTimes } from '../lib/metrics/model-metrics.ts';
import { chooseLanguageModel, MeasuredModel } from '../llm/choose-language-model.ts';
import type { FallbackModel } from '../llm/fallback-model.ts';
import { GuardedModel } from '../llm/guarded-model.ts';
import type { LanguageModel } from '../llm/language-model.ts';
import { LlamaCppModel } from '../llm/llama-cpp/llama-cpp-model.ts';
import { OllamaModel } from '../llm/ollama/ollama-model.ts';
import { OpenAiModel } from '../llm/openai/openai-model.ts';
import { DEFAULT_RULES_FILE, loadRuleBook } from '../llm/scripted/rule-book.ts';
import { ScriptedModel } from '../llm/scripted/scripted-model.ts';

export interface ModelParts {
  readonly model: FallbackModel;
  /** Has the model loaded into memory, where that is a thing to wait for and it answers at all. */
  readonly warmModel: (signal: AbortSignal) => Promise<void>;
  /** Where conversations count what they do for the model; nobody counts unless given. */
  readonly counts?: LanguageModelCounts;
}

interface Options {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: ModelTimes;
  readonly counts: LanguageModelCounts;
}

/** LLM names the engines in order; only those are made. */
export function composeModel(options: Options): ModelParts {
  const { config, clock, log, times, counts } = options;
  // The guard is inside: a model that only thinks aloud counts as one that failed.
  const guarded = (model: LanguageModel) =>
    new MeasuredModel({ model: new GuardedModel(model), times, clock });
  const ollama = ollamaOf(config);
  const llamaCpp = llamaCppOf(options);
  const model = chooseLanguageModel({
    setting: config.LLM,
    clock,
    log,
    counts,
    mayWarm: config.LLM_WARM_PREFIX,
    makers: {
      ollama: () => guarded(ollama),
      openai: () => guarded(openAiOf(config)),
      'llama-cpp': () => guarded(llamaCpp),
      scripted: () => guarded(scriptedOf(config, clock)),
    },
  });
  return {
    model,
    counts,
    warmModel: async (signal) => {
      if (config.LLM.includes('llama-cpp')) await loadAhead(llamaCpp, model);
      if (model.report().engine === ollama.name) await ollama.load(signal);
    },
  };
}

/** Its first check has only begun the loading; the next regular one would be half a minute away. */
async function loadAhead(llamaCpp: LlamaCppModel, model: FallbackModel): Promise<void> {
  await llamaCpp.load();
  await model.check();
}

function llamaCppOf({ config, clock, log }: Options): LlamaCppModel {
  const { contextTokens, limits } = sharedOf(config);
  const order = {
    folder: config.LLAMA_CPP_DIR ?? join(config.MODELS_DIR, 'llama-cpp'),
    file: join(config.MODELS_DIR, 'llm', `${config.LLAMA_CPP_MODEL}.gguf`),
    contextTokens,
    sequences: config.LLAMA_CPP_CALLS,
  };
  return new LlamaCppModel({ order, clock, log, limits });
}

function ollamaOf(config: Config): OllamaModel {
  const { OLLAMA_HOST: host, OLLAMA_MODEL: model } = config;
  return new OllamaModel({ host, model, ...sharedOf(config) });
}

function openAiOf(config: Config): OpenAiModel {
  return new OpenAiModel({
    baseUrl: config.OPENAI_BASE_URL ?? '',
    model: config.OPENAI_MODEL ?? '',
    ...sharedOf(config),
    ...(config.OPENAI_API_KEY !== undefined && { apiKey: config.OPENAI_API_KEY }),
  });
}

function scriptedOf(config: Config, clock: Clock): ScriptedModel {
  return new ScriptedModel({ book: loadRuleBook(config.SCRIPT_FILE ?? DEFAULT_RULES_FILE), clock });
}

/** What every model behind a server is told. */
function sharedOf(config: Config) {
  return {
    contextTokens: config.LLM_CONTEXT_TOKENS,
    limits: { firstMs: config.LLM_FIRST_TOKEN_MS, nextMs: config.LLM_NEXT_TOKEN_MS },
  };
}
