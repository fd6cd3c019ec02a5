/** Finds voices by language and words; pure */
import type { Voice } from '../api-types.ts';

/** Languages that have a voice, as codes of two or three letters; voices of an undetermined one have none. */
export function languagesOf(voices: readonly Pick<Voice, 'language'>[]): readonly string[] {
  return [...new Set(voices.map(({ language }) => language))].filter((code) => code !== 'und');
}

/** @param wanted.language a code, empty for all; a voice of an undetermined language speaks any. */
export function foundVoices<One extends Pick<Voice, 'id' | 'name' | 'locale' | 'language'>>(
  voices: readonly One[],
  wanted: { readonly language: string; readonly text: string },
): readonly One[] {
  const words = wanted.text.toLowerCase().split(/\s+/);
  return voices.filter(({ id, name, locale, language }) => {
    const isSpoken = wanted.language === '' || language === wanted.language || language === 'und';
    const text = `${id} ${name} ${locale}`.toLowerCase();
    return isSpoken && words.every((word) => text.includes(word));
  });
}
