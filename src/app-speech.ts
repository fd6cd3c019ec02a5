/** Composition root, part 2: what hears, speaks and thinks. */
import { composeVoices } from './app-voices.ts';
import type { Config } from './config.ts';
import type { ConversationOptions } from './conversation/conversation.ts';
import type { VoiceCatalogue } from './domain/voice-catalogue.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import type { ModelTimes } from './lib/model-metrics.ts';
import { chooseLanguageModel } from './llm/choose-language-model.ts';
import type { FallbackModel } from './llm/fallback-model.ts';
import type { LanguageModel } from './llm/language-model.ts';
import { MeasuredModel } from './llm/measured-model.ts';
import { OllamaModel } from './llm/ollama/ollama-model.ts';
import { OpenAiModel } from './llm/openai/openai-model.ts';
import { DEFAULT_RULES_FILE, loadRuleBook } from './llm/scripted/rule-book.ts';
import { ScriptedModel } from './llm/scripted/scripted-model.ts';
import { chooseHearing } from './speech/choose-hearing.ts';
import type { EngineReport, Hearing } from './speech/hearing.ts';
import { MeasuredHearing } from './speech/measured-hearing.ts';
import type { PhraseCache } from './speech/phrase-cache.ts';
import { sileroEngine } from './speech/silero/silero-engine.ts';
import { whisperEngine } from './speech/whisper/whisper-engine.ts';

export interface SpeechParts {
  readonly hearing: Hearing;
  readonly synthesizer: PhraseCache;
  readonly voices: VoiceCatalogue;
  readonly model: FallbackModel;
  /** Has the model loaded into memory, where that is a thing to wait for and it answers at all. */
  readonly warmModel: (signal: AbortSignal) => Promise<void>;
  /** How turns are taken, where not as usual. */
  readonly turnTaking?: Pick<ConversationOptions, 'mayThinkAhead' | 'timing'>;
}

interface Options {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: ModelTimes;
}

/** Chooses the engines by the settings and what is installed. Nothing is started. */
export async function composeSpeech(options: Options): Promise<SpeechParts> {
  const { config, clock, log, times } = options;
  const hearing = chooseHearing({
    vad: config.VAD,
    stt: config.STT,
    modelsDir: config.MODELS_DIR,
    clock,
    logger: log,
    engines: { silero: sileroEngine, whisper: whisperEngine },
  });
  return {
    hearing: new MeasuredHearing({ hearing, times }),
    ...(await composeVoices(options)),
    ...composeModel(options),
  };
}

/** LLM names the engines in order; only those are made. */
function composeModel(options: Options): Pick<SpeechParts, 'model' | 'warmModel'> {
  const { config, clock, log, times } = options;
  const measured = (model: LanguageModel) => new MeasuredModel({ model, times, clock });
  const ollama = new OllamaModel({ host: config.OLLAMA_HOST, model: config.OLLAMA_MODEL });
  const model = chooseLanguageModel({
    setting: config.LLM,
    clock,
    log,
    makers: {
      ollama: () => measured(ollama),
      openai: () =>
        measured(
          new OpenAiModel({
            baseUrl: config.OPENAI_BASE_URL ?? '',
            model: config.OPENAI_MODEL ?? '',
            ...(config.OPENAI_API_KEY !== undefined && { apiKey: config.OPENAI_API_KEY }),
          }),
        ),
      scripted: () =>
        measured(
          new ScriptedModel({
            book: loadRuleBook(config.SCRIPT_FILE ?? DEFAULT_RULES_FILE),
            clock,
          }),
        ),
    },
  });
  return {
    model,
    warmModel: async (signal) => {
      if (model.report().engine === ollama.name) await ollama.warm(signal);
    },
  };
}

/** Which engine does which job, and why. */
export function engineReports(parts: SpeechParts): readonly EngineReport[] {
  return [...parts.hearing.reports(), parts.synthesizer.report(), parts.model.report()];
}
