/** Scripts that voices by espeak-ng's phonemes do not read in another language: they name each letter, as in "Chinese letter"; pure */

/** Scripts, and the languages of espeak-ng's voices that read them. */
const SPELT: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\p{sc=Arabic}+/gu, ['ar', 'fa', 'ku', 'sd', 'ug', 'ur']],
  [/\p{sc=Hebrew}+/gu, ['he']],
  [/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]+/gu, ['cmn', 'hak', 'ja', 'yue', 'zh']],
  [/\p{sc=Thai}+/gu, ['th']],
  [
    /\p{sc=Cyrillic}+/gu,
    [...['ba', 'be', 'bg', 'cv', 'kk', 'ky', 'mk'], ...['nog', 'ru', 'sr', 'tt', 'uk', 'uz']],
  ],
];

/**
 * Leaves out the words that a voice of espeak-ng would spell; a caller understands none of that, and it takes a second a letter.
 *
 * @param voice espeak-ng's name of the voice, such as `gmw/en-US+f3` or `cmn`.
 */
export function withoutSpeltScripts(text: string, voice: string): string {
  const [language = ''] = (voice.split('/').at(-1) ?? '').toLowerCase().split(/[-+_]/);
  const foreign = SPELT.filter(([, languages]) => !languages.includes(language));
  const read = foreign.reduce((rest, [script]) => rest.replace(script, ' '), text);
  if (read === text) return text;
  const tidy = read.replace(/\s+(?=[,.;:!?،؟。])/gu, '').replace(/\s+/g, ' ');
  return /[\p{L}\p{N}]/u.test(tidy) ? tidy.trim() : '';
}
