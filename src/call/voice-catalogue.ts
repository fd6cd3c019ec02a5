/** Voices that agents can have: list, languages, previews. */
import {
  matchingVoices,
  type Voice,
  type VoiceCatalogue,
} from '../domain/agent/voice-catalogue.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Logger } from '../lib/logger.ts';
import { LINE_RATE_HZ } from '../media/audio-stream.ts';
import { wavHeader } from '../media/recording/wav-format.ts';
import type { Synthesizer } from '../speech/tts/pool/synthesizer.ts';
import type { VoiceBook } from '../speech/tts/voices/voice-book.ts';
import { type ListedVoice, listedVoices, sampleText } from '../speech/tts/voices/voice-list.ts';

/** Previews at a time; calls come first. */
const PREVIEWS_MAX = 2;

const PREVIEW_MS_MAX = 20_000;

interface CatalogueOptions {
  readonly book: VoiceBook;
  readonly synthesizer: Synthesizer;
  readonly log: Logger;
  readonly previewsMax?: number;
}

/** The voices of the book, spoken by the synthesiser of the calls. */
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
      const why = 'Cannot preview the voice: synthesis failed; retry later';
      throw new ServiceError('SERVICE_UNAVAILABLE', why);
    },
  };
}

/** Computed for each request: an engine may fail and recover while the server runs. */
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
    'Cannot find the voice: GET /api/voices lists all voices',
  );
}
