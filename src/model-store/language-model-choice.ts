/** The language model of a download: Ollama's where an Ollama answers, else a GGUF file for llama.cpp. */

import type { ModelProfile } from '../domain/models/model-downloads.ts';
import type { Model } from './manifest.ts';

/** Whether the setting LLM takes models of Ollama. */
export function usesOllama({ LLM }: ModelSettings): boolean {
  return LLM === 'auto' || LLM.includes('ollama');
}

/**
 * Of a profile's two language models the one that the server will use; a list with one kind stays as it is.
 *
 * @param hasOllama asked only with LLM=auto.
 */
export async function withOneLanguageModel(
  models: readonly Model[],
  { LLM }: ModelSettings,
  hasOllama: () => Promise<boolean>,
): Promise<readonly Model[]> {
  const kinds = new Set(models.map(({ kind }) => kind));
  if (!kinds.has('llm') || !kinds.has('gguf')) return models;
  const isAuto = LLM === 'auto';
  const isEmbedded = isAuto ? !(await hasOllama()) : LLM.includes('llama-cpp');
  const isOllama = isAuto ? !isEmbedded : LLM.includes('ollama');
  return models.filter(({ kind }) =>
    kind === 'gguf' ? isEmbedded : kind === 'llm' ? isOllama : true,
  );
}

export interface ModelSettings {
  /** Language model servers, best first, with commas; `auto` takes what answers. */
  readonly LLM: string;
  readonly MODELS_DIR: string;
  readonly MODELS_PROFILE: ModelProfile;
  readonly OLLAMA_HOST: string;
}
