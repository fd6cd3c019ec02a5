/** Voice ids: the listed ones, their parts, and which installed voice speaks for the voice that an agent names; pure */

import { languageOf } from '../../../lib/language-tag.ts';
import type { NeuralVoice } from '../neural/voice-model.ts';
import type { VoiceChoice } from '../pool/synthesizer.ts';
import type { VoiceBook } from './voice-book.ts';

interface ListedVoice {
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

/** Sample text of a language, where no other text is asked for. */
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

type Gender = 'female' | 'male';

/** Properties of a voice that it is chosen by. */
type PlacedVoice = Pick<NeuralVoice, 'name' | 'locale' | 'gender'>;

/** Gender of a speaker's name in the voice book; undefined for other names. */
export function genderOf(speaker: string, names: VoiceBook['names']): Gender | undefined {
  if (names.female.includes(speaker)) return 'female';
  return names.male.includes(speaker) ? 'male' : undefined;
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
}

/**
 * The voice that the book names, where it is installed; else one of the same language, of the same gender and region
 * where there is one, and the same for the same name always. The agent's language goes before the voice's own.
 *
 * @param book the engine's part of the voice book: by the agent's voice, the name of the engine's.
 * @returns undefined where none has the language.
 */
export function chooseNeuralVoice<Voice extends PlacedVoice>(
  choice: VoiceChoice,
  voices: readonly Voice[],
  {
    book,
    names,
  }: { readonly book: Readonly<Record<string, string>>; readonly names: VoiceBook['names'] },
): Voice | undefined {
  const parsed = parseVoiceName(choice.voice);
  const language = languageOf(choice.language) || (parsed?.language ?? '');
  const locale = parsed?.language === language ? parsed.locale : choice.language;
  const speaking = voices.filter((voice) => languageOf(voice.locale) === language);
  const own = Object.hasOwn(book, choice.voice) ? book[choice.voice] : undefined;
  const named = speaking.find(({ name }) => name === own);
  if (named !== undefined) return named;
  const speaker = parsed?.speaker ?? choice.voice;
  const gender = genderOf(speaker, names);
  const atHome = preferred(
    speaking,
    (voice) => voice.locale.toLowerCase() === locale.toLowerCase(),
  );
  const alike = preferred(atHome, (voice) => voice.gender === undefined || voice.gender === gender);
  return alike[hashOf(speaker) % Math.max(1, alike.length)];
}

/** Voices that fit, or all where none does. */
function preferred<Voice>(
  voices: readonly Voice[],
  fits: (voice: Voice) => boolean,
): readonly Voice[] {
  const fitting = voices.filter(fits);
  return fitting.length > 0 ? fitting : voices;
}
