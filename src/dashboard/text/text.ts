/** Texts of the pages by language; pure */
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };

export const LANGUAGES = ['en', 'de'] as const;

export type Language = (typeof LANGUAGES)[number];

export type TextKey = keyof typeof en;

const TEXTS: Readonly<Record<Language, Readonly<Record<TextKey, string>>>> = { en, de };

/** @param values what stands for `{name}` in the text. */
export function textOf(
  language: Language,
  key: TextKey,
  values: Readonly<Record<string, string | number>>,
): string {
  return TEXTS[language][key].replace(/\{(\w+)\}/g, (whole, name: string) =>
    String(values[name] ?? whole),
  );
}

/** The text of a value that the server names, such as a status; the server's own word where there is none. */
export function wordOf(language: Language, group: string, value: string): string {
  const texts: Readonly<Record<string, string>> = TEXTS[language];
  return texts[`${group}.${value}`] ?? value;
}
