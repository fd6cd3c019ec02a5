/** The port of a voice server on the network: its voices, and which one speaks for the voice that an agent names. */
import { languageOf } from '../../../lib/language-tag.ts';
import type { SpeechServer } from '../../network/speech-servers.ts';
import type { VoiceChoice } from '../pool/synthesizer.ts';
import type { VoiceBook } from '../voices/voice-book.ts';
import { chooseNeuralVoice, listedVoices } from '../voices/voice-ids.ts';

export interface VoiceRequest {
  /** Cleaned by `spokenText`; never empty. */
  readonly text: string;
  /** One of the server's voices; undefined for its default. */
  readonly voice: string | undefined;
  readonly signal: AbortSignal;
}

export interface VoiceServer extends SpeechServer {
  /** Voices as the newest probe found them; empty where the server lists none. */
  readonly voices: readonly ServerVoice[];

  /**
   * Synthesizes; each chunk is passed on as it arrives. Leaving the loop closes the connection.
   *
   * @returns PCM chunks: 8 kHz, mono, signed 16-bit, any length.
   * @throws {Error} naming the fault.
   * @throws the signal's reason when aborted.
   */
  speak(request: VoiceRequest): AsyncIterable<Int16Array>;
}

export interface VoiceServerOptions {
  /** Default: the protocol's own. */
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Makes a server of a protocol. */
export type OpenVoiceServer = (address: string, options: VoiceServerOptions) => VoiceServer;

/** Text that probes have spoken. */
export const PROBE_TEXT = 'Hello.';

export interface ServerVoice {
  /** Name as the server knows it. */
  readonly name: string;
  /** BCP 47; empty where the server does not tell. */
  readonly locale: string;
  readonly gender?: 'female' | 'male';
  /** Speaker of a voice with several; such a voice speaks for agents that name it, and is not chosen otherwise. */
  readonly speaker?: string;
}

/** More than any server has. */
const VOICES_MAX = 2000;

const NAME_CHARACTERS_MAX = 100;

/**
 * Locales by the first letter of a Kokoro voice's name.
 *
 * @see the model card of hexgrad/Kokoro-82M, VOICES.md
 */
const KOKORO_LOCALES: Readonly<Record<string, string>> = {
  a: 'en-US',
  b: 'en-GB',
  e: 'es-ES',
  f: 'fr-FR',
  h: 'hi-IN',
  i: 'it-IT',
  j: 'ja-JP',
  p: 'pt-BR',
  z: 'zh-CN',
};

/** A voice as the server names it; missing facts are read from names such as `af_heart`, `en_US-amy-medium`, `en-US-AvaNeural`. */
export function serverVoice(told: {
  readonly name: string;
  readonly language?: string | undefined;
  readonly gender?: string | undefined;
}): ServerVoice {
  const { name } = told;
  const [, letter = '', sex] = /^([abefhijpz])([fm])_/.exec(name) ?? [];
  const [, prefix] = /^([a-z]{2,3}[_-][A-Z]{2})-/.exec(name) ?? [];
  const locale = localeOf(told.language ?? KOKORO_LOCALES[letter] ?? prefix ?? '');
  const gender = genderOf(told.gender ?? sex);
  return { name, locale, ...(gender !== undefined && { gender }) };
}

/** Leaves out unusable names, and voices beyond the length of any real list. */
export function usableVoices(voices: readonly ServerVoice[]): readonly ServerVoice[] {
  const isName = (name: string) => name !== '' && name.length <= NAME_CHARACTERS_MAX;
  return voices.filter(({ name }) => isName(name)).slice(0, VOICES_MAX);
}

/** `en-US` for `en_US` and `en-us`; `en` stays as it is; empty for other text. */
function localeOf(language: string): string {
  const [, code = '', region] = /^([a-z]{2,3})(?:[-_]([a-z]{2}|\d{3}))?$/i.exec(language) ?? [];
  return region === undefined
    ? code.toLowerCase()
    : `${code.toLowerCase()}-${region.toUpperCase()}`;
}

function genderOf(told: string | undefined): 'female' | 'male' | undefined {
  const [letter] = (told ?? '').toLowerCase();
  if (letter === 'f') return 'female';
  return letter === 'm' ? 'male' : undefined;
}

/** Our voice that is most like a server's own one: the same speaker, else one of its locale, language and gender. */
export function likelyVoice({ name, locale, gender }: ServerVoice, book: VoiceBook): string {
  const language = languageOf(locale);
  const alike = listedVoices(book).filter(
    (voice) => voice.language === language && (gender === undefined || voice.gender === gender),
  );
  const same = Object.values(book.neural).flatMap(({ voices }) =>
    Object.keys(voices).filter((id) => voices[id] === name),
  );
  return same[0] ?? (alike.find((voice) => voice.locale === locale) ?? alike[0])?.id ?? name;
}

/** How the voices of servers are chosen. */
export interface VoiceRules {
  readonly book: VoiceBook;
  /** Setting `TTS_VOICE`: speaks for agents whose voice the server does not have by name. */
  readonly standard: string | undefined;
}

/**
 * The voice of a server for an agent's voice: the one of that name; else the standard voice; else one of the language, by
 * the voice book, region and gender.
 *
 * @returns null where no voice has the language; undefined for the server's default, where it names no voices.
 */
export function serverVoiceFor(
  choice: VoiceChoice,
  voices: readonly ServerVoice[],
  { book, standard }: VoiceRules,
): string | null | undefined {
  if (voices.some(({ name }) => name === choice.voice)) return choice.voice;
  if (standard !== undefined) return standard;
  const placed = voices.filter(({ locale, speaker }) => locale !== '' && speaker === undefined);
  if (placed.length === 0) return voices[0]?.name;
  const listed = Object.values(book.neural).map((engine) => engine.voices[choice.voice]);
  const known = listed.find((own) => placed.some(({ name }) => name === own));
  const own = known === undefined ? {} : { [choice.voice]: known };
  return chooseNeuralVoice(choice, placed, { book: own, names: book.names })?.name ?? null;
}
