/** Theme and language as the reader chooses them: kept in this browser. */
import { language, type Theme, theme } from '../app-state.ts';
import { BROWSER, keep } from '../kept.ts';
import type { Language } from '../text/text.ts';

/** Each in its own language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

export function chooseTheme(name: Theme): void {
  theme.value = name;
  keep(BROWSER, 'theme', name);
}

export function chooseLanguage(name: Language): void {
  language.value = name;
  keep(BROWSER, 'language', name);
}
