/** Voices that agents can have: list, languages, previews. */
import { DEFAULT_LANGUAGE } from '../domain/agent/agent-rules.ts';
import {
  matchingVoices,
  UNDETERMINED,
  VOICE_ID,
  type Voice,
  type VoiceCatalogue,
} from '../domain/agent/voice-catalogue.ts';
import { ServiceError } from '../domain/service-error.ts';
import { languageOf } from '../lib/language-tag.ts';
import type { Logger } from '../lib/logger.ts';
import { LINE_RATE_HZ } from '../media/audio-stream.ts';
import { wavHeader } from '../media/recording/wav-file.ts';
import type { ServerVoice } from '../speech/tts/network/voice-server.ts';
import type { Synthesizer } from '../speech/tts/pool/synthesizer.ts';
import type { VoiceBook } from '../speech/tts/voices/voice-book.ts';
import { listedVoices, sampleText } from '../speech/tts/voices/voice-ids.ts';

/** Previews at a time; calls come first. */
const PREVIEWS_MAX = 2;

const PREVIEW_MS_MAX = 20_000;

interface CatalogueOptions {
  readonly book: VoiceBook;
  readonly synthesizer: Synthesizer;
  readonly log: Logger;
  /** Voices of speech servers, as they are known now. */
  readonly offered?: () => readonly ServerVoice[];
  readonly previewsMax?: number;
}

type Unplaced = Omit<Voice, 'engine' | 'isFallback'>;

/** The voices of the book and of speech servers, spoken by the synthesiser of the calls. */
export function voiceCatalogue(options: CatalogueOptions): VoiceCatalogue {
  const { book, synthesizer, log, offered = () => [], previewsMax = PREVIEWS_MAX } = options;
  const listed = listedVoices(book);
  // The last layer speaks the languages of espeak-ng, whichever voices are installed.
  const languages = [
    ...listed.map(({ language }) => language),
    ...Object.keys(book.espeak.languages),
  ];
  const byId = new Map<string, Unplaced>(listed.map((voice) => [voice.id, voice]));
  // Asked for each time: a server may come back with other voices.
  const ofServers = () =>
    offered()
      .filter(({ name }) => VOICE_ID.test(name) && !byId.has(name))
      .map(unplaced);
  const all = () => [...listed, ...ofServers()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const find = (id: string) => byId.get(id) ?? ofServers().find((voice) => voice.id === id);
  let previews = 0;
  return {
    list: (filter) =>
      matchingVoices(
        all().map((voice) => withEngine(voice, synthesizer)),
        filter,
      ),
    find: (voiceId) => {
      const voice = find(voiceId);
      return voice === undefined ? undefined : withEngine(voice, synthesizer);
    },
    languages: () => {
      const more = ofServers().map(({ language }) => language);
      return [...new Set([...languages, ...more])]
        .filter((language) => language !== UNDETERMINED)
        .sort();
    },
    preview: async (voiceId, text) => {
      const voice = find(voiceId);
      if (voice === undefined) throw noVoice();
      if (previews >= previewsMax) return null;
      previews += 1;
      const said = text ?? sampleText(spokenLocale(voice));
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

/** Computed when it is read, for the page of a list alone: an engine may fail and recover while the server runs. */
function withEngine(voice: Unplaced, synthesizer: Synthesizer): Voice {
  const choice = { voice: voice.id, language: spokenLocale(voice) };
  const report = () => synthesizer.reportFor?.(choice) ?? synthesizer.report();
  return {
    ...voice,
    get engine() {
      return report().engine;
    },
    get isFallback() {
      return report().isFallback;
    },
  };
}

async function previewOf(
  voice: Unplaced,
  text: string,
  synthesizer: Synthesizer,
): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(PREVIEW_MS_MAX);
  const request = { text, voice: voice.id, language: spokenLocale(voice), signal };
  const pieces: Uint8Array[] = [];
  for await (const pcm of synthesizer.speak(request)) {
    pieces.push(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength).slice());
  }
  const dataBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([wavHeader({ channels: 1, rateHz: LINE_RATE_HZ }, dataBytes), ...pieces]);
}

function spokenLocale({ locale }: Unplaced): string {
  return locale === UNDETERMINED ? DEFAULT_LANGUAGE : locale;
}

function unplaced({ name, locale, gender }: ServerVoice): Unplaced {
  const tag = locale === '' ? UNDETERMINED : locale;
  return { id: name, locale: tag, language: languageOf(tag), name, gender: gender ?? 'unknown' };
}

function noVoice(): ServiceError {
  return new ServiceError(
    'VOICE_NOT_FOUND',
    'Cannot find the voice: GET /api/voices lists all voices',
  );
}
