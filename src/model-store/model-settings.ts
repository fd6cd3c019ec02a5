/** Settings that decide which models are downloaded, and where to. */
import type { ModelProfile } from '../domain/models/model-downloads.ts';

export interface ModelSettings {
  /** Language model servers, best first, with commas; `auto` takes what answers. */
  readonly LLM: string;
  readonly MODELS_DIR: string;
  readonly MODELS_PROFILE: ModelProfile;
  readonly OLLAMA_HOST: string;
}
