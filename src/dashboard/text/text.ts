/** Texts of the pages by language, and what the server says in English in that language; pure */

import { type ApiError, messagesByField } from '../api-error.ts';
import de from './de.json' with { type: 'json' };
import reports from './de-reports.json' with { type: 'json' };
import german from './de-server.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };

export const LANGUAGES = ['en', 'de'] as const;

export type Language = (typeof LANGUAGES)[number];

export type TextKey = keyof typeof en;

const TEXTS: Readonly<Record<Language, Readonly<Record<TextKey, string>>>> = { en, de };

/** @param values that replace `{name}` in the text. */
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

/** The server's sentences of one language; `{name}` stands for any text, and the same text in the translation. */
interface ServerWords {
  /** Meanings of error codes, for errors whose sentence is not known. */
  readonly codes: Readonly<Record<string, string>>;
  readonly other: string;
  readonly otherField: string;
  readonly sentences: Readonly<Record<string, string>>;
  /** Nouns inside of sentences. */
  readonly words: Readonly<Record<string, string>>;
}

/** The server speaks English itself. */
const WORDS: Readonly<Record<Language, ServerWords | undefined>> = {
  en: undefined,
  de: {
    ...german,
    sentences: { ...german.sentences, ...reports.sentences },
    words: { ...german.words, ...reports.words },
  },
};

/** Places that hold a text of the server itself; names and numbers that users chose stay as they are. */
const TRANSLATED_PLACES = ['why', 'kind', 'what'];

/** They hold no space, so that patterns of little else fit no other sentence. */
const ONE_WORD_PLACES = ['address', 'engine', 'host', 'method', 'size'];

/** Names joined by commas, "and" or "or". */
const LIST = 'list';

/** Separator of sentences that the server strings together. */
const JOINT = '; ';

/** Endings that a sentence may have: a full stop, or the code of an error. */
const TAIL = /^(?<said>.+?)(?<tail>\.| \([A-Z][A-Z0-9_]+\))$/s;

const PLACE = /\{(\w+)\}/g;

interface Pattern {
  readonly form: RegExp;
  readonly text: string;
  readonly fixedChars: number;
}

const patternsBySentences = new Map<ServerWords, readonly Pattern[]>();

/** Text of an error for the reader: its sentence, or the meaning of its code and the server's own words. */
export function errorText(language: Language, error: ApiError): string {
  const words = WORDS[language];
  const { code, message } = error;
  if (words === undefined) return message;
  const meaning = words.codes[code] ?? words.codes.UNKNOWN ?? code;
  return translated(words, message) ?? filled(words.other, { code: meaning, message });
}

/** Error messages by field path, in a language. */
export function fieldTexts(language: Language, error: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(messagesByField(error)).map(([path, message]) => [
      path,
      fieldText(language, message),
    ]),
  );
}

/**
 * Translates a sentence of the server outside of errors, such as why a webhook did not arrive; several sentences in one text
 * are translated one by one. Unknown ones stay as they are.
 */
export function sentenceText(language: Language, sentence: string): string {
  const words = WORDS[language];
  return words === undefined ? sentence : translatedOrSame(words, sentence);
}

function fieldText(language: Language, message: string): string {
  const words = WORDS[language];
  if (words === undefined) return message;
  return translated(words, message) ?? filled(words.otherField, { message });
}

function translated(words: ServerWords, sentence: string): string | undefined {
  return (
    words.sentences[sentence] ??
    words.words[sentence] ??
    translatedEach(words, sentence) ??
    translatedByPattern(words, sentence) ??
    translatedBeforeTail(words, sentence)
  );
}

/** Undefined for one sentence, and where one of several is not known. */
function translatedEach(words: ServerWords, sentences: string): string | undefined {
  if (!sentences.includes(JOINT)) return undefined;
  const texts = sentences.split(JOINT).map((sentence) => translated(words, sentence));
  return texts.includes(undefined) ? undefined : texts.join(JOINT);
}

/** Translates the known ones of several sentences. */
function translatedOrSame(words: ServerWords, sentences: string): string {
  const textOf = (sentence: string) => translated(words, sentence) ?? sentence;
  return translated(words, sentences) ?? sentences.split(JOINT).map(textOf).join(JOINT);
}

function translatedByPattern(words: ServerWords, sentence: string): string | undefined {
  for (const { form, text } of patternsOf(words)) {
    const places = form.exec(sentence)?.groups;
    if (places !== undefined) {
      const values = Object.entries(places).map(([name, value]) => [
        name,
        valueText(words, name, value),
      ]);
      return filled(text, Object.fromEntries(values));
    }
  }
  return undefined;
}

function translatedBeforeTail(words: ServerWords, sentence: string): string | undefined {
  const { said, tail } = TAIL.exec(sentence)?.groups ?? {};
  const text = said === undefined ? undefined : translated(words, said);
  return text === undefined ? undefined : `${text}${tail}`;
}

function valueText(words: ServerWords, place: string, value: string): string {
  if (place === LIST) return value.replaceAll(/[^ ,]+/g, (item) => words.words[item] ?? item);
  return TRANSLATED_PLACES.includes(place) ? translatedOrSame(words, value) : value;
}

/** Patterns of sentences with places, the most fixed characters first: they are more specific than a sentence of places. */
function patternsOf(words: ServerWords): readonly Pattern[] {
  const known = patternsBySentences.get(words);
  if (known !== undefined) return known;
  const patterns = Object.entries(words.sentences)
    .filter(([sentence]) => sentence.includes('{'))
    .map(([sentence, text]) => ({
      form: formOf(sentence),
      text,
      fixedChars: sentence.replaceAll(PLACE, '').length,
    }))
    .sort((one, other) => other.fixedChars - one.fixedChars);
  patternsBySentences.set(words, patterns);
  return patterns;
}

function formOf(sentence: string): RegExp {
  const fixed = sentence.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  const form = fixed.replaceAll(PLACE, (_, name: string) => `(?<${name}>${contentOf(name)})`);
  return new RegExp(`^${form}$`, 's');
}

function contentOf(place: string): string {
  if (TRANSLATED_PLACES.includes(place)) return '.+?';
  if (place === LIST) return `(?:(?!${JOINT}).)+`;
  return ONE_WORD_PLACES.includes(place) ? '[^ ]+?' : `(?:(?!${JOINT}).)+?`;
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(PLACE, (whole, name: string) => values[name] ?? whole);
}
