/** The voices that the voice book offers, told apart by locale, speaker and gender; pure */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { VoiceBook } from './voice-book.ts';

export interface ListedVoice {
  /** `<locale>-<Name>Neural`. */
  readonly id: string;
  readonly locale: string;
  readonly language: string;
  readonly name: string;
  readonly gender: 'female' | 'male';
}

/** All of them, in the order of their ids. */
export function listedVoices({ ids, names }: VoiceBook): readonly ListedVoice[] {
  const voices = Object.entries(ids).flatMap(([locale, speakers]) =>
    speakers.map((name) => ({
      id: `${locale}-${name}Neural`,
      locale,
      language: languageOf(locale),
      name,
      gender: names.female.includes(name) ? ('female' as const) : ('male' as const),
    })),
  );
  return voices.sort((a, b) => (a.id < b.id ? -1 : 1));
}

const SAMPLES: Readonly<Record<string, string>> = {
  ar: 'مرحبا. كيف يمكنني مساعدتك؟',
  bg: 'Добър ден. С какво мога да помогна?',
  ca: 'Bon dia. En què puc ajudar-lo?',
  cs: 'Dobrý den. Jak vám mohu pomoci?',
  da: 'Goddag. Hvad kan jeg hjælpe med?',
  de: 'Guten Tag. Wie kann ich Ihnen helfen?',
  el: 'Καλημέρα. Πώς μπορώ να βοηθήσω;',
  en: 'Good morning. How can I help you?',
  es: 'Buenos días. ¿En qué puedo ayudarle?',
  et: 'Tere. Kuidas saan aidata?',
  fi: 'Hyvää päivää. Kuinka voin auttaa?',
  fr: 'Bonjour. Comment puis-je vous aider ?',
  he: 'שלום. איך אפשר לעזור?',
  hi: 'नमस्ते। मैं आपकी क्या मदद कर सकता हूँ?',
  hr: 'Dobar dan. Kako vam mogu pomoći?',
  hu: 'Jó napot. Miben segíthetek?',
  id: 'Selamat siang. Apa yang bisa saya bantu?',
  it: 'Buongiorno. Come posso aiutarla?',
  ja: 'こんにちは。ごようけんをおねがいします。',
  ko: '안녕하세요. 무엇을 도와드릴까요?',
  lt: 'Laba diena. Kuo galiu padėti?',
  lv: 'Labdien. Kā varu palīdzēt?',
  ms: 'Selamat tengah hari. Boleh saya bantu?',
  nb: 'God dag. Hva kan jeg hjelpe med?',
  nl: 'Goedendag. Waarmee kan ik u helpen?',
  pl: 'Dzień dobry. W czym mogę pomóc?',
  pt: 'Bom dia. Em que posso ajudar?',
  ro: 'Bună ziua. Cu ce vă pot ajuta?',
  ru: 'Здравствуйте. Чем я могу помочь?',
  sk: 'Dobrý deň. Ako vám môžem pomôcť?',
  sl: 'Dober dan. Kako vam lahko pomagam?',
  sv: 'God dag. Vad kan jag hjälpa till med?',
  tr: 'İyi günler. Nasıl yardımcı olabilirim?',
  uk: 'Добрий день. Чим я можу допомогти?',
  vi: 'Xin chào. Tôi có thể giúp gì cho bạn?',
  zh: '您好。请问有什么可以帮您？',
};

/** What a voice says of itself where nothing else is asked for. */
export function sampleText(language: string): string {
  return SAMPLES[languageOf(language)] ?? SAMPLES.en ?? '';
}

/** A voice name taken apart. */
interface VoiceName {
  /** BCP 47 with language and region, such as `en-US`. */
  readonly locale: string;
  /** ISO 639, such as `en`. */
  readonly language: string;
  /** The speaker's own name, such as `Jenny`. */
  readonly speaker: string;
}

const VOICE_NAME =
  /^([A-Za-z]{2,3})-(?:[A-Za-z]{4}-)?([A-Za-z]{2}|\d{3})-([A-Za-z]+?)(?:Multilingual)?Neural$/;

/** Takes `<locale>-<Name>Neural` apart; null when the text has another form. */
export function parseVoiceName(voice: string): VoiceName | null {
  const [, language, region, speaker] = VOICE_NAME.exec(voice) ?? [];
  if (language === undefined || region === undefined || speaker === undefined) {
    return null;
  }
  const lower = language.toLowerCase();
  return { locale: `${lower}-${region.toUpperCase()}`, language: lower, speaker };
}

/** The language of a BCP 47 tag, in lower case: `es` of `es-MX`. */
export function languageOf(tag: string): string {
  return (tag.split(/[-_]/)[0] ?? '').toLowerCase();
}

/** Sub-folders of `tts` in the models folder, by name; none where it does not exist. */
export function voiceFolders(modelsDir: string): readonly string[] {
  const folder = join(modelsDir, 'tts');
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort();
}

/** Names of a folder's files that end in `ending`, sorted; none where it does not exist. */
export function filesIn(folder: string, ending: string): readonly string[] {
  return entriesOf(folder)
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith(ending))
    .map(({ name }) => name)
    .sort();
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // No such folder, or not to be read: then there is nothing in it for us.
    return [];
  }
}

/** Longer text is cut at a space: about five minutes of speech. */
export const SPOKEN_CHARACTERS_MAX = 4000;

/** Control characters, some of which are commands to espeak-ng, and what is no character at all. */
const CONTROLS = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\ufffd]+/gu;

/** Characters inside words that are neither seen nor said. Joiners stay: Persian and Hindi need them. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/** They would be read out by name. U+FE0F and U+20E3 make one of a plain character. */
const EMOJI =
  /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator})\u200d?|[\ufe0e\ufe0f]|\u20e3/gu;

/** So would Markdown's signs. */
const MARKDOWN = /[*`~#_|\\]+/g;

/** `[[` begins phonemes in espeak-ng. Single brackets are not spoken either. */
const BRACKETS = /[[\]{}]+/g;

/** SSML, or what looks like it. A lone `<` stays: "3 < 4". */
const TAG = /<[/!?]?[A-Za-z][^<>]{0,500}>/g;

/**
 * Cleans a text: no control characters, tags, phoneme escapes, emoji, or Markdown; one line, at most
 * `SPOKEN_CHARACTERS_MAX` long. Empty when nothing is left to say.
 */
export function spokenText(text: string): string {
  const line = text
    // Cut first, so that the work is bounded; twice the limit leaves room for what is stripped.
    .slice(0, 2 * SPOKEN_CHARACTERS_MAX)
    .replace(INVISIBLE, '')
    .replace(CONTROLS, ' ')
    .replace(TAG, ' ')
    .replace(EMOJI, ' ')
    .replace(MARKDOWN, ' ')
    .replace(BRACKETS, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return /[\p{L}\p{N}]/u.test(line) ? shorten(line) : '';
}

function shorten(line: string): string {
  if (line.length <= SPOKEN_CHARACTERS_MAX) {
    return line;
  }
  const cut = line.slice(0, SPOKEN_CHARACTERS_MAX);
  const lastSpace = cut.lastIndexOf(' ');
  return (lastSpace > 0 ? cut.slice(0, lastSpace) : cut).toWellFormed();
}

/** Silence after a clause, in milliseconds; the rest of a reply follows it at once. */
const CLAUSE_PAUSE_MS = 60;

/** Silence after a sentence, in milliseconds. espeak-ng's own is 110 to 330, by voice. */
const SENTENCE_PAUSE_MS = 160;

/** How much silence to leave at the end of a text, in milliseconds. */
export function pauseAfterMs(text: string): number {
  return /[,;:\u2013\u2014-]$/.test(text) ? CLAUSE_PAUSE_MS : SENTENCE_PAUSE_MS;
}
