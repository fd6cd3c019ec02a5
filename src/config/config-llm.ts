/** The settings of language models, each checked by itself and with the others. */
import { z } from 'zod';
import { wholeNumber } from './config-fields.ts';

const engines = z
  .string()
  .regex(
    /^(auto|(ollama|openai|llama-cpp|scripted)(,(ollama|openai|llama-cpp|scripted))*)$/,
    'expected auto, or a list out of ollama, openai, llama-cpp and scripted, best first',
  );

/** Less does not hold a system prompt and a few turns; more than this no model has. */
const contextTokens = wholeNumber(1024, 1_000_000);

/** The agent apologises after 15 s: a model that is given longer leaves no time for the next one. */
const waitMs = wholeNumber(100, 60_000);

/** In the words of the environment; part of the whole in `config.ts`. */
export const LLM_SETTINGS = {
  LLM: engines.default('auto'),
  LLM_CONTEXT_TOKENS: contextTokens.default(8192),
  LLM_FIRST_TOKEN_MS: waitMs.default(8000),
  LLM_NEXT_TOKEN_MS: waitMs.default(8000),
  LLM_WARM_PREFIX: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .default(true),
  OLLAMA_MODEL: z.string().min(1).default('qwen3:4b'),
  OPENAI_MODEL: z.string().min(1).optional(),
  /** Where `node-llama-cpp` is installed; `llama-cpp` in MODELS_DIR unless given. */
  LLAMA_CPP_DIR: z.string().min(1).optional(),
  /** The name of a file `llm/NAME.gguf` in MODELS_DIR. */
  LLAMA_CPP_MODEL: z
    .string()
    .regex(/^[\w][\w.-]*$/, 'expected the name of a file in llm, without .gguf')
    .default('qwen3-4b'),
  LLAMA_CPP_CALLS: wholeNumber(1, 64).default(4),
  OPENAI_API_KEY: z.string().min(1).optional(),
};

/** Settings that are valid one by one but not together; empty when all is well. */
export function llmContradictions(config: {
  readonly LLM: string;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly OPENAI_MODEL?: string | undefined;
}): string[] {
  const { LLM, OPENAI_BASE_URL, OPENAI_MODEL } = config;
  return LLM.includes('openai') && !(OPENAI_BASE_URL && OPENAI_MODEL)
    ? ['LLM: openai needs OPENAI_BASE_URL and OPENAI_MODEL as well']
    : [];
}
