/** Finds espeak-ng's nearest voice for the voice that an agent names; pure */

import { languageOf } from '../../../lib/language-tag.ts';
import type { SpokenSentence } from '../pool/synthesizer-pool.ts';
import type { VoiceBook } from '../voices/voice-book.ts';
import { genderOf, hashOf, parseVoiceName } from '../voices/voice-ids.ts';

/** A voice as espeak-ng's command line names it. */
export interface EspeakVoice {
  /** File and variant, such as `gmw/en-US+f3`. */
  readonly name: string;
  readonly wordsPerMinute: number;
  /** Amplification of the speech. */
  readonly gainDb: number;
}

/** The words of the command line that speaks UTF-8 text to standard output, but for where the text is. */
export function espeakArguments({ name, wordsPerMinute }: EspeakVoice): string[] {
  return ['-v', name, '-s', String(wordsPerMinute), '-b', '1', '--stdout'];
}

export interface EspeakVoiceChoice {
  readonly voice: EspeakVoice;
  /** False when espeak-ng does not speak the language and the fallback language stands in. */
  readonly hasLanguage: boolean;
}

/**
 * Chooses a voice. The language decides how words are read: where the agent's language is another one
 * than the voice's, the agent's wins. The speaker's name decides who reads: always the same variant for
 * the same name.
 */
export function chooseEspeakVoice(
  request: { readonly voice: string; readonly language: string },
  book: VoiceBook,
): EspeakVoiceChoice {
  const { languages, fallbackLanguage, wordsPerMinute } = book.espeak;
  const file = espeakFile(request, book);
  const variant = variantFor(parseVoiceName(request.voice)?.speaker ?? request.voice, book);
  const name = `${file ?? languages[fallbackLanguage] ?? 'en'}+${variant.name}`;
  return {
    voice: { name, wordsPerMinute, gainDb: variant.gainDb },
    hasLanguage: file !== undefined,
  };
}

function espeakFile(
  request: { readonly voice: string; readonly language: string },
  { espeak }: VoiceBook,
): string | undefined {
  const voice = parseVoiceName(request.voice);
  const language = languageOf(request.language);
  const isVoiceAtHome = voice !== null && (language === '' || language === voice.language);
  const locale = isVoiceAtHome ? voice.locale : canonicalLocale(request.language);
  return ownValue(espeak.locales, locale) ?? ownValue(espeak.languages, languageOf(locale));
}

/** `es-mx` as `es-MX`. */
function canonicalLocale(tag: string): string {
  const [, region] = /[-_]([A-Za-z]{2}|\d{3})$/.exec(tag) ?? [];
  return region === undefined ? tag : `${languageOf(tag)}-${region.toUpperCase()}`;
}

function variantFor(speaker: string, { names, espeak }: VoiceBook) {
  const hash = hashOf(speaker);
  const variants = espeak.variants[genderOf(speaker, names) ?? (hash % 2 ? 'male' : 'female')];
  const variant = variants[(hash >>> 1) % variants.length];
  if (variant === undefined) {
    throw new RangeError('Cannot choose a voice: the voice book lists no variants');
  }
  return variant;
}

/** Names come from customers: `constructor` is not a language. */
function ownValue(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Words of the command line that write phonemes of UTF-8 text to standard output, `^` in affricates and diphthongs. @param voice file, and variant. */
export function phonemeArguments(voice: string): string[] {
  return ['-q', '--ipa', '--tie=^', '-b', '1', '-v', voice];
}

/** One text for one voice. */
export interface Sentence extends SpokenSentence {
  readonly voice: EspeakVoice;
}

/** Settings that the child is started with. */
export interface SpeakingOrder {
  readonly engine: EspeakEngine;
  /** Starts a process, which speaks a test word and waits. */
  readonly firstVoice: EspeakVoice;
}

/** Which espeak-ng the child runs. */
export type EspeakEngine =
  | {
      readonly kind: 'program';
      readonly program: string;
      /** Longest time for a whole sentence; then its process is killed. */
      readonly sentenceTimeoutMs?: number;
    }
  | { readonly kind: 'wasm'; readonly moduleName: string };
