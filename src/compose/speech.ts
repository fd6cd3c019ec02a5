/** Composition root: speech recognition, speech synthesis and language models. */

import { voiceCatalogue } from '../call/voice-catalogue.ts';
import type { Config } from '../config/config.ts';
import { isSpeechProtocol } from '../config/setting-readers.ts';
import type { ConversationOptions } from '../conversation/conversation.ts';
import type { VoiceCatalogue } from '../domain/agent/voice-catalogue.ts';
import { type EngineState, engineState } from '../domain/call/engine-state.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type {
  LanguageModelCounts,
  ModelTimes,
  SpeechServerCounts,
} from '../lib/metrics/model-metrics.ts';
import { chooseHearing } from '../speech/hearing/choose-hearing.ts';
import type { Hearing } from '../speech/hearing/hearing.ts';
import type { RecognitionServersPlan } from '../speech/hearing/threaded-hearing.ts';
import {
  moonshineEngine,
  RECOGNITION_MODULES,
  transformersEngine,
  whisperEngine,
} from '../speech/stt/recognizer-engines.ts';
import { spokenSynthesizer } from '../speech/text-normalization/spoken-form.ts';
import { NetworkSynthesizer } from '../speech/tts/network/network-synthesizer.ts';
import { chooseSynthesizer } from '../speech/tts/pool/choose-synthesizer.ts';
import { measuredSynthesizer, type Synthesizer } from '../speech/tts/pool/synthesizer.ts';
import { ttsEngines, VOICE_SERVERS } from '../speech/tts/tts-engines.ts';
import { PhraseCache } from '../speech/tts/voices/phrase-cache.ts';
import { loadVoiceBook, type VoiceBook } from '../speech/tts/voices/voice-book.ts';
import { smartTurnEngine } from '../speech/turn-detection/turn-detector.ts';
import { sileroEngine } from '../speech/vad/silero/silero-engine.ts';
import { composeModel, type ModelParts } from './llm.ts';

/** The engines of conversations. */
export interface SpeechParts extends ModelParts {
  readonly hearing: Hearing;
  readonly synthesizer: PhraseCache;
  readonly voices: VoiceCatalogue;
  /** Overrides of the conversations' timing. */
  readonly turnTaking?: Pick<ConversationOptions, 'maySpeculate' | 'timing'>;
}

interface Options {
  readonly config: Config;
  readonly hearing: Hearing;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: ModelTimes;
  readonly counts: LanguageModelCounts;
  readonly servers: SpeechServerCounts;
}

/** Chooses the synthesiser and the language models by settings and installed models. Nothing is started. */
export async function composeSpeech(options: Options): Promise<SpeechParts> {
  const { hearing, servers, times } = options;
  hearing.measure?.({ times, servers });
  return {
    hearing,
    ...(await composeVoices(options)),
    ...(await composeModel(options)),
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

/**
 * Chooses VAD, recogniser and turn model by settings and installed models, and begins to load them in a thread and child
 * processes.
 *
 * @returns hearing whose `start` waits for the models; the caller stops it when its own start fails.
 */
export function beginHearing(from: { readonly config: Config; readonly log: Logger }): Hearing {
  const { config, log } = from;
  const servers = recognitionServers(config);
  const hearing = chooseHearing({
    vad: config.VAD,
    stt: isSpeechProtocol(config.STT) ? 'auto' : config.STT,
    servers,
    turn: config.TURN,
    modelsDir: config.MODELS_DIR,
    providers: config.ONNX_PROVIDERS,
    clock: systemClock,
    logger: log,
    engines: {
      silero: sileroEngine,
      // Best first.
      recognizers: [whisperEngine, moonshineEngine, transformersEngine],
      smartTurn: smartTurnEngine,
    },
  });
  // `App.start` waits for it again, and reports a failure.
  hearing.start().catch(() => undefined);
  return hearing;
}

/** The voice servers of `TTS` in front of the local engine; null where that speaks alone. */
function withVoiceServers(options: {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly servers: SpeechServerCounts;
  readonly local: Synthesizer;
  readonly book: VoiceBook;
}): NetworkSynthesizer | null {
  const { config, clock, log: logger, servers: counts, local, book } = options;
  const { TTS: engine, TTS_URL: addresses, TTS_TIMEOUT_MS: timeoutMs } = config;
  if (!isSpeechProtocol(engine)) return null;
  const access = { model: config.TTS_MODEL, apiKey: config.TTS_API_KEY };
  const servers = addresses.map((address) => VOICE_SERVERS[engine](address, access));
  const rules = { book, standard: config.TTS_VOICE };
  return new NetworkSynthesizer({
    engine,
    servers,
    rules,
    timeoutMs,
    local,
    clock,
    logger,
    counts,
  });
}

/** The servers of `STT`; undefined for a local engine. */
function recognitionServers(config: Config): RecognitionServersPlan | undefined {
  const { STT: engine, STT_URL: addresses, STT_TIMEOUT_MS: answerMs } = config;
  if (!isSpeechProtocol(engine)) return undefined;
  const moduleUrl = RECOGNITION_MODULES[engine];
  const options = { model: config.STT_MODEL, apiKey: config.STT_API_KEY };
  return { engine, order: { moduleUrl, addresses, options, answerMs } };
}

/** A minute of PCM is 960 kB: this holds the greetings of many agents. */
const PHRASE_CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Chooses the synthesiser by settings and installed voices. Nothing is started. */
async function composeVoices(options: {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: ModelTimes;
  readonly servers: SpeechServerCounts;
}): Promise<{ readonly synthesizer: PhraseCache; readonly voices: VoiceCatalogue }> {
  const { config, clock, log, times } = options;
  const book = await loadVoiceBook();
  const local = await chooseSynthesizer({
    tts: isSpeechProtocol(config.TTS) ? 'auto' : config.TTS,
    engines: ttsEngines({
      ...{ modelsDir: config.MODELS_DIR, providers: config.ONNX_PROVIDERS },
      ...{ book, clock, logger: log },
    }),
    logger: log,
  });
  const network = withVoiceServers({ ...options, local, book });
  const spoken = spokenSynthesizer(measuredSynthesizer(network ?? local, { times, clock }));
  // Measured behind the cache: a cached phrase takes no model time.
  const synthesizer = new PhraseCache({
    synthesizer: spoken,
    sizeBytesMax: PHRASE_CACHE_BYTES_MAX,
  });
  // Previews bypass the cache, so that they do not displace phrases of calls.
  const offered = () => network?.offeredVoices() ?? [];
  return { synthesizer, voices: voiceCatalogue({ book, synthesizer: spoken, log, offered }) };
}
