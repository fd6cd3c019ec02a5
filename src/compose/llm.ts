/** Composition root: language models in the order of the setting LLM. */
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { LanguageModelCounts, ModelTimes } from '../lib/metrics/model-metrics.ts';
import { chooseLanguageModel } from '../llm/choose-language-model.ts';
import type { FallbackModel } from '../llm/fallback-model.ts';
import { GuardedModel } from '../llm/guarded-model.ts';
import type { LanguageModel } from '../llm/language-model.ts';
import type { LlamaCppModel } from '../llm/llama-cpp/llama-cpp-model.ts';
import type { OllamaModel } from '../llm/ollama/ollama-model.ts';
import { defaultRuleBook } from '../llm/scripted/default-rules.ts';

/** The language models of the server. */
export interface ModelParts {
  readonly model: FallbackModel;
  /** Loads the model into memory where its server loads models at their first use. */
  readonly warmModel: (signal: AbortSignal) => Promise<void>;
  /** Counters of conversations' requests to the model. */
  readonly counts?: LanguageModelCounts;
}

interface Options {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: ModelTimes;
  readonly counts: LanguageModelCounts;
}

/** Makes the engines that LLM names, in that order; others are not loaded. */
export async function composeModel(options: Options): Promise<ModelParts> {
  const { config, clock, log, times, counts } = options;
  // A model that only reasons and never answers counts as failed.
  const guarded = (model: LanguageModel) => new GuardedModel(model, { times, clock });
  let ollama: OllamaModel | undefined;
  let llamaCpp: LlamaCppModel | undefined;
  const model = await chooseLanguageModel({
    setting: config.LLM,
    clock,
    log,
    counts,
    mayWarm: config.LLM_WARM_PREFIX,
    makers: {
      ollama: async () => {
        ollama = await openOllama(config);
        return guarded(ollama);
      },
      openai: async () => guarded(await openOpenAi(config)),
      'llama-cpp': async () => {
        llamaCpp = await openLlamaCpp(options);
        return guarded(llamaCpp);
      },
      scripted: async () => guarded(await openScripted(config, clock)),
    },
  });
  return {
    model,
    counts,
    warmModel: async (signal) => {
      if (llamaCpp !== undefined) await loadAhead(llamaCpp, model);
      if (model.report().engine === ollama?.name) await ollama.load(signal);
    },
  };
}

/** Loads the model and checks it at once: the first check only began the loading, and the next is 30 s away. */
async function loadAhead(llamaCpp: LlamaCppModel, model: FallbackModel): Promise<void> {
  await llamaCpp.load();
  await model.check();
}

async function openLlamaCpp({ config, clock, log }: Options): Promise<LlamaCppModel> {
  const { LlamaCppModel } = await import('../llm/llama-cpp/llama-cpp-model.ts');
  const { contextTokens, limits } = sharedOf(config);
  const order = {
    folder: config.LLAMA_CPP_DIR ?? join(config.MODELS_DIR, 'llama-cpp'),
    file: join(config.MODELS_DIR, 'llm', `${config.LLAMA_CPP_MODEL}.gguf`),
    contextTokens,
    sequences: config.LLAMA_CPP_CALLS,
  };
  return new LlamaCppModel({ order, clock, log, limits });
}

async function openOllama(config: Config): Promise<OllamaModel> {
  const { OllamaModel } = await import('../llm/ollama/ollama-model.ts');
  const { OLLAMA_HOST: host, OLLAMA_MODEL: model } = config;
  return new OllamaModel({ host, model, ...sharedOf(config) });
}

async function openOpenAi(config: Config): Promise<LanguageModel> {
  const { OpenAiModel } = await import('../llm/openai/openai-model.ts');
  return new OpenAiModel({
    baseUrl: config.OPENAI_BASE_URL ?? '',
    model: config.OPENAI_MODEL ?? '',
    ...sharedOf(config),
    ...(config.OPENAI_API_KEY !== undefined && { apiKey: config.OPENAI_API_KEY }),
  });
}

async function openScripted({ SCRIPT_FILE }: Config, clock: Clock): Promise<LanguageModel> {
  const { ScriptedModel } = await import('../llm/scripted/scripted-model.ts');
  if (SCRIPT_FILE === undefined) return new ScriptedModel({ book: defaultRuleBook(), clock });
  const { loadRuleBook } = await import('../llm/scripted/rule-book.ts');
  return new ScriptedModel({ book: loadRuleBook(SCRIPT_FILE), clock });
}

/** Options of every model. */
function sharedOf(config: Config) {
  return {
    contextTokens: config.LLM_CONTEXT_TOKENS,
    limits: { firstMs: config.LLM_FIRST_TOKEN_MS, nextMs: config.LLM_NEXT_TOKEN_MS },
  };
}
