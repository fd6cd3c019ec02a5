/** Composition root: what hears, speaks and thinks. */

import type { Config } from '../config/config.ts';
import type { ConversationOptions } from '../conversation/conversation.ts';
import type { VoiceCatalogue } from '../domain/agent/voice-catalogue.ts';
import { type EngineState, engineState } from '../domain/call/engine-state.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { LanguageModelCounts } from '../lib/metrics/language-model-metrics.ts';
import type { ModelTimes } from '../lib/metrics/model-metrics.ts';
import type { Hearing } from '../speech/hearing/hearing.ts';
import { MeasuredHearing } from '../speech/hearing/measured-hearing.ts';
import type { PhraseCache } from '../speech/tts/voices/phrase-cache.ts';
import { composeModel, type ModelParts } from './llm.ts';
import { composeVoices } from './voices.ts';

export interface SpeechParts extends ModelParts {
  readonly hearing: Hearing;
  readonly synthesizer: PhraseCache;
  readonly voices: VoiceCatalogue;
  /** How turns are taken, where not as usual. */
  readonly turnTaking?: Pick<ConversationOptions, 'mayThinkAhead' | 'timing'>;
}

interface Options {
  readonly config: Config;
  readonly hearing: Hearing;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: ModelTimes;
  readonly counts: LanguageModelCounts;
}

/** Chooses what speaks and thinks by the settings and what is installed. Nothing is started. */
export async function composeSpeech(options: Options): Promise<SpeechParts> {
  const { hearing, times } = options;
  return {
    hearing: new MeasuredHearing({ hearing, times }),
    ...(await composeVoices(options)),
    ...composeModel(options),
  };
}

/** Which engine does which job, and why. @param isModelFailing whether no language model answers now. */
export function engineStates(parts: SpeechParts, isModelFailing: boolean): readonly EngineState[] {
  const speech = [...parts.hearing.reports(), parts.synthesizer.report()];
  return [
    ...speech.map((report) => engineState(report)),
    engineState(parts.model.report(), isModelFailing),
  ];
}
