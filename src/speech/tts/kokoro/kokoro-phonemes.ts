/** From espeak-ng's way of writing sounds to the one that Kokoro learnt; pure */

/** @see kokoro-js, phonemize.js: the same in the same order */
const CHANGES: readonly (readonly [RegExp, string])[] = [
  [/ʲ/g, 'j'],
  [/r/g, 'ɹ'],
  [/x/g, 'k'],
  [/ɬ/g, 'l'],
  [/ z(?=[;:,.!?¡¿—…"«»“” ]|$)/g, 'z'],
];

/** @param voice whose first letter tells the language. */
export function kokoroPhonemes(phonemes: string, voice: string): string {
  const isEnglish = /^[ab]/.test(voice);
  // Only English was learnt through these; other languages keep their own r.
  const changed = isEnglish
    ? CHANGES.reduce((text, [pattern, by]) => text.replace(pattern, by), phonemes)
    : phonemes;
  return voice.startsWith('a') ? changed.replace(/(?<=nˈaɪn)ti(?!ː)/g, 'di') : changed;
}
