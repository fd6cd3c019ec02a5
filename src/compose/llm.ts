/** Composition root: language models in the order of the setting LLM. */
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { LanguageModelCounts, ModelTimes } from '../lib/metrics/model-metrics.ts';
import { AgentModels } from '../llm/agent-models.ts';
import {
  chooseLanguageModel,
  type FallbackModel,
  type LanguageModelEngine,
  parseLanguageModelOrder,
} from '../llm/fallback-model.ts';
import { GuardedModel } from '../llm/guarded-model.ts';
import type { LanguageModel, ModelServer } from '../llm/language-model.ts';
import type { LlamaCppModel } from '../llm/llama-cpp/llama-cpp-model.ts';
import { callsThatFit, isLlamaInstalled } from '../llm/llama-cpp/llama-program.ts';
import type { OllamaModel } from '../llm/ollama/ollama-model.ts';
import type { OpenAiModel } from '../llm/openai/openai-model.ts';
import { PrefixWarming } from '../llm/prefix-warming.ts';
import { defaultRuleBook } from '../llm/scripted/default-rules.ts';
import { memoryBytes } from '../speech/hearing/choose-hearing.ts';

/** The language models of the server. */
export interface ModelParts {
  readonly model: FallbackModel;
  /** Models that agents name. */
  readonly agentModels: AgentModels;
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
  const shared = {
    ...{ clock, log, counts, mayWarm: config.LLM_WARM_PREFIX },
    warming: new PrefixWarming({ clock, counts }),
  };
  let ollama: OllamaModel | undefined;
  let openAi: OpenAiModel | undefined;
  let llamaCpp: LlamaCppModel | undefined;
  const setting = await orderOf(config);
  const model = await chooseLanguageModel({
    setting,
    ...shared,
    makers: {
      ollama: async () => {
        ollama = await openOllama(config);
        return guarded(ollama);
      },
      openai: async () => {
        openAi = await openOpenAi(config);
        return guarded(openAi);
      },
      'llama-cpp': async () => {
        llamaCpp = await openLlamaCpp(options);
        return guarded(llamaCpp);
      },
      scripted: async () => guarded(await openScripted(config, clock)),
    },
  });
  const servers: Partial<Record<LanguageModelEngine, ModelServer | undefined>> = {
    ollama,
    openai: openAi,
  };
  const [first] = parseLanguageModelOrder(setting);
  const server = first && servers[first];
  return {
    model,
    agentModels: new AgentModels({ own: model, server, guarded, ...shared }),
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

/**
 * The setting LLM. For `auto` with an embedded model installed: Ollama if its model answers at the start, else the embedded
 * model. Both together would take gigabytes twice.
 */
async function orderOf(config: Config): Promise<string> {
  if (config.LLM !== 'auto' || !hasEmbeddedModel(config)) return config.LLM;
  const ollama = await openOllama(config);
  const answers = await ollama.check().then(
    () => true,
    () => false,
  );
  return answers ? 'ollama,scripted' : 'llama-cpp,scripted';
}

/** Whether llama.cpp and a model for it are in the models folder. */
function hasEmbeddedModel(config: Config): boolean {
  return isLlamaInstalled(llamaFolderOf(config)) && ggufFileOf(config).isThere;
}

/** Folder of the embedded language model. */
export function llamaFolderOf({ LLAMA_CPP_DIR, MODELS_DIR }: Config): string {
  return LLAMA_CPP_DIR ?? join(MODELS_DIR, 'llama-cpp');
}

/** The file that LLAMA_CPP_MODEL names; with LLM=auto, where that is missing, the largest that there is. */
function ggufFileOf({ LLM, LLAMA_CPP_MODEL, MODELS_DIR }: Config): {
  readonly file: string;
  readonly isThere: boolean;
} {
  const named = join(MODELS_DIR, 'llm', `${LLAMA_CPP_MODEL}.gguf`);
  const files = globSync('llm/*.gguf', { cwd: MODELS_DIR }).map((file) => join(MODELS_DIR, file));
  if (files.includes(named)) return { file: named, isThere: true };
  if (LLM !== 'auto') return { file: named, isThere: false };
  const [largest] = files.toSorted((one, other) => statSync(other).size - statSync(one).size);
  return { file: largest ?? named, isThere: largest !== undefined };
}

/** With LLM=auto as many answers at the same time as memory holds; an operator who names the engine decides alone. */
function embeddedCalls(config: Config, file: string): number {
  const { LLM, LLAMA_CPP_CALLS: callsMax, LLM_CONTEXT_TOKENS: contextTokens } = config;
  if (LLM !== 'auto') return callsMax;
  const fileBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return callsThatFit({ memoryBytes: memoryBytes(), fileBytes, contextTokens, callsMax });
}

async function openLlamaCpp({ config, clock, log }: Options): Promise<LlamaCppModel> {
  const { LlamaCppModel } = await import('../llm/llama-cpp/llama-cpp-model.ts');
  const { contextTokens, limits } = sharedOf(config);
  const { file } = ggufFileOf(config);
  const sequences = embeddedCalls(config, file);
  if (sequences < config.LLAMA_CPP_CALLS) {
    log.warn(
      { file, calls: sequences },
      'memory holds fewer answers at the same time than LLAMA_CPP_CALLS',
    );
  }
  const order = { folder: llamaFolderOf(config), file, contextTokens, sequences };
  return new LlamaCppModel({ order, clock, log, limits });
}

async function openOllama(config: Config): Promise<OllamaModel> {
  const { OllamaModel } = await import('../llm/ollama/ollama-model.ts');
  const { OLLAMA_HOST: host, OLLAMA_MODEL: model } = config;
  return new OllamaModel({ host, model, ...sharedOf(config) });
}

async function openOpenAi(config: Config): Promise<OpenAiModel> {
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
