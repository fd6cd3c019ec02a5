/** Chooses the language, each named in itself. */
import { keep, language, t } from '../app-state.ts';
import { LANGUAGES, type Language } from '../text/text.ts';

const NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

export function LanguageSelect() {
  return (
    <select
      aria-label={t('app.language')}
      value={language.value}
      onChange={(event) => {
        language.value = event.currentTarget.value as Language;
        keep('language', language.value);
      }}
    >
      {LANGUAGES.map((name) => (
        <option key={name} value={name} lang={name}>
          {NAMES[name]}
        </option>
      ))}
    </select>
  );
}
