/** Rewrites espeak-ng's IPA into the symbols that Kokoro was trained on; pure */

/** Between the parts of an affricate or a diphthong, as espeak-ng's `--tie=^` writes them. */
const TIE = /\^/g;

/**
 * Pairs that are one symbol to Kokoro. Only tied ones: two vowels in a row that are two syllables stay two.
 *
 * @see hexgrad/misaki, espeak.py: `EspeakG2P`, which reads es, fr, hi, it and pt-br
 */
const JOINED: Readonly<Record<string, string>> = {
  'a^ɪ': 'I',
  'a^ʊ': 'W',
  'd^z': 'ʣ',
  'd^ʒ': 'ʤ',
  'e^ɪ': 'A',
  'o^ʊ': 'O',
  's^s': 'S',
  't^s': 'ʦ',
  't^ʃ': 'ʧ',
  'ɔ^ɪ': 'Y',
  'ə^ʊ': 'Q',
};

/** @see kokoro-js, phonemize.js: the same in the same order */
const ENGLISH: readonly (readonly [RegExp, string])[] = [
  [/kəkˈoːɹoʊ/g, 'kˈoʊkəɹoʊ'],
  [/kəkˈɔːɹəʊ/g, 'kˈəʊkəɹəʊ'],
  [/ʲ/g, 'j'],
  [/r/g, 'ɹ'],
  [/x/g, 'k'],
  [/ɬ/g, 'l'],
  [/(?<=[a-zɹː])(?=hˈʌndɹɪd)/g, ' '],
  [/ z(?=[;:,.!?¡¿—…"«»“” ]|$)/g, 'z'],
];

const AMERICAN: readonly (readonly [RegExp, string])[] = [[/(?<=nˈaɪn)ti(?!ː)/g, 'di']];

/**
 * @param phonemes with ties.
 * @param voice whose first letter tells the language: `a` and `b` American and British English.
 */
export function kokoroPhonemes(phonemes: string, voice: string): string {
  if (/^[ab]/.test(voice)) {
    const changes = voice.startsWith('a') ? [...ENGLISH, ...AMERICAN] : ENGLISH;
    const untied = phonemes.replace(TIE, '');
    return changes.reduce((text, [pattern, by]) => text.replace(pattern, by), untied);
  }
  const joined = phonemes.replace(/.\^./gu, (pair) => JOINED[pair] ?? pair);
  return joined.replace(TIE, '').replaceAll('-', '');
}
