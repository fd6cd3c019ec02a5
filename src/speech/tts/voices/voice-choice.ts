/** Which installed voice speaks for the voice that an agent names; pure */
import type { NeuralVoice } from '../neural/voice-model.ts';
import type { VoiceChoice } from '../pool/synthesizer.ts';
import type { VoiceBook } from './voice-book.ts';
import { languageOf, parseVoiceName } from './voice-list.ts';

export type Gender = 'female' | 'male';

/** Properties of a voice that it is chosen by. */
type PlacedVoice = Pick<NeuralVoice, 'name' | 'locale' | 'gender'>;

/** What the voice book says of a speaker's name. */
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

/** Those that fit, or all where none does. */
function preferred<Voice>(
  voices: readonly Voice[],
  fits: (voice: Voice) => boolean,
): readonly Voice[] {
  const fitting = voices.filter(fits);
  return fitting.length > 0 ? fitting : voices;
}
