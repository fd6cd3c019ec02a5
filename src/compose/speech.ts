/** Composition root: what hears, speaks and thinks. */
import type { Config } from '../config/config.ts';
import type { ConversationOptions } from '../conversation/conversation.ts';
import {
  matchingVoices,
  type Voice,
  type VoiceCatalogue,
} from '../domain/agent/voice-catalogue.ts';
import { type EngineState, engineState } from '../domain/call/engine-state.ts';
import { ServiceError } from '../domain/service-error.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { LanguageModelCounts, ModelTimes } from '../lib/metrics/model-metrics.ts';
import { LINE_RATE_HZ } from '../media/audio-stream.ts';
import { wavHeader } from '../media/recording/wav-format.ts';
import { chooseHearing } from '../speech/hearing/choose-hearing.ts';
import type { Hearing } from '../speech/hearing/hearing.ts';
import { MeasuredHearing } from '../speech/hearing/measured-hearing.ts';
import {
  moonshineEngine,
  transformersEngine,
  whisperEngine,
} from '../speech/stt/recognizer-engines.ts';
import { SpokenSynthesizer } from '../speech/text-normalization/spoken-form.ts';
import { chooseSynthesizer } from '../speech/tts/pool/choose-synthesizer.ts';
import { MeasuredSynthesizer } from '../speech/tts/pool/measured-synthesizer.ts';
import type { Synthesizer } from '../speech/tts/pool/synthesizer.ts';
import { ttsEngines } from '../speech/tts/tts-engines.ts';
import { PhraseCache } from '../speech/tts/voices/phrase-cache.ts';
import { loadVoiceBook, type VoiceBook } from '../speech/tts/voices/voice-book.ts';
import { type ListedVoice, listedVoices, sampleText } from '../speech/tts/voices/voice-list.ts';
import { smartTurnEngine } from '../speech/turn-detection/turn-detector.ts';
import { sileroEngine } from '../speech/vad/silero/silero-engine.ts';
import { composeModel, type ModelParts } from './llm.ts';

export interface SpeechParts extends ModelParts {
  readonly hearing: Hearing;
  readonly synthesizer: PhraseCache;
  readonly voices: VoiceCatalogue;
  /** How turns are taken, where not as usual. */
  readonly turnTaking?: Pick<ConversationOptions, 'maySpeculate' | 'timing'>;
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
 * Chooses by the settings and what is installed, and begins to load it in a thread and processes of its own.
 *
 * @returns whose `start` waits for what has begun; to be stopped by whoever cannot go on.
 */
export function beginHearing(from: { readonly config: Config; readonly log: Logger }): Hearing {
  const { config, log } = from;
  const hearing = chooseHearing({
    vad: config.VAD,
    stt: config.STT,
    turn: config.TURN,
    modelsDir: config.MODELS_DIR,
    clock: systemClock,
    logger: log,
    engines: {
      silero: sileroEngine,
      // Best first.
      recognizers: [whisperEngine, moonshineEngine, transformersEngine],
      smartTurn: smartTurnEngine,
    },
  });
  // Whoever waits for it is told.
  hearing.start().catch(() => undefined);
  return hearing;
}

/** A minute of PCM is 960 kB: this holds the greetings of many agents. */
const PHRASE_CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Previews that are made at one time: calls come first. */
const PREVIEWS_MAX = 2;

const PREVIEW_MS_MAX = 20_000;

/** Chooses what speaks by the settings and what is installed. Nothing is started. */
async function composeVoices(options: {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: ModelTimes;
}): Promise<{ readonly synthesizer: PhraseCache; readonly voices: VoiceCatalogue }> {
  const { config, clock, log, times } = options;
  const book = await loadVoiceBook();
  const chosen = await chooseSynthesizer({
    tts: config.TTS,
    engines: ttsEngines({ modelsDir: config.MODELS_DIR, book, clock, logger: log }),
    logger: log,
  });
  const measured = new MeasuredSynthesizer({ synthesizer: chosen, times, clock });
  const spoken = new SpokenSynthesizer(measured);
  // Behind the cache: what is kept was not made by a model this time.
  const synthesizer = new PhraseCache({
    synthesizer: spoken,
    sizeBytesMax: PHRASE_CACHE_BYTES_MAX,
  });
  // Past the cache: what is tried again and again must not push out what callers are to hear.
  return { synthesizer, voices: voiceCatalogue({ book, synthesizer: spoken, log }) };
}

interface CatalogueOptions {
  readonly book: VoiceBook;
  readonly synthesizer: Synthesizer;
  readonly log: Logger;
  readonly previewsMax?: number;
}

/** The voices of the book, spoken by whatever speaks on calls. */
export function voiceCatalogue(options: CatalogueOptions): VoiceCatalogue {
  const { book, synthesizer, log, previewsMax = PREVIEWS_MAX } = options;
  const listed = listedVoices(book);
  // The last layer speaks the languages of espeak-ng, whichever voices are installed.
  const languages = [
    ...new Set([...listed.map(({ language }) => language), ...Object.keys(book.espeak.languages)]),
  ].sort();
  const byId = new Map(listed.map((voice) => [voice.id, voice]));
  let previews = 0;
  return {
    list: (filter) =>
      matchingVoices(
        listed.map((voice) => withEngine(voice, synthesizer)),
        filter,
      ),
    find: (voiceId) => {
      const voice = byId.get(voiceId);
      return voice === undefined ? undefined : withEngine(voice, synthesizer);
    },
    languages: () => languages,
    preview: async (voiceId, text) => {
      const voice = byId.get(voiceId);
      if (voice === undefined) throw noVoice();
      if (previews >= previewsMax) return null;
      previews += 1;
      const said = text ?? sampleText(voice.language);
      const wav = await previewOf(voice, said, synthesizer)
        .catch((error: unknown) => log.warn({ err: error, voice: voiceId }, 'voice preview failed'))
        .finally(() => {
          previews -= 1;
        });
      if (wav) return wav;
      const why = 'Cannot preview the voice: it did not speak; retry later';
      throw new ServiceError('SERVICE_UNAVAILABLE', why);
    },
  };
}

/** Asked each time: an engine may be lost, and come back, while the server runs. */
function withEngine(voice: ListedVoice, synthesizer: Synthesizer): Voice {
  const choice = { voice: voice.id, language: voice.locale };
  const { engine, isFallback } = synthesizer.reportFor?.(choice) ?? synthesizer.report();
  return { ...voice, engine, isFallback };
}

async function previewOf(
  voice: ListedVoice,
  text: string,
  synthesizer: Synthesizer,
): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(PREVIEW_MS_MAX);
  const request = { text, voice: voice.id, language: voice.locale, signal };
  const pieces: Uint8Array[] = [];
  for await (const pcm of synthesizer.speak(request)) {
    pieces.push(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength).slice());
  }
  const dataBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([wavHeader({ channels: 1, rateHz: LINE_RATE_HZ }, dataBytes), ...pieces]);
}

function noVoice(): ServiceError {
  return new ServiceError(
    'VOICE_NOT_FOUND',
    'Cannot find the voice: GET /api/voices lists those there are',
  );
}
