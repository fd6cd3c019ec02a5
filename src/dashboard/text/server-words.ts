/** What the server says in English, in the language of the page; pure */
import { type ApiError, messagesByField } from '../api-error.ts';
import german from './de-server.json' with { type: 'json' };
import type { Language } from './text.ts';

/** The server's sentences of one language; `{name}` stands for any text, and the same text in the translation. */
interface ServerWords {
  /** What an error code means, where its sentence is not known. */
  readonly codes: Readonly<Record<string, string>>;
  readonly other: string;
  readonly otherField: string;
  readonly sentences: Readonly<Record<string, string>>;
  /** Nouns inside of sentences. */
  readonly words: Readonly<Record<string, string>>;
}

/** The server speaks English itself. */
const WORDS: Readonly<Record<Language, ServerWords | undefined>> = { en: undefined, de: german };

/** What they stand for is a text of the server itself; names and numbers that users chose stay as they are. */
const TRANSLATED_PLACES = ['why', 'kind', 'what'];

const PLACE = /\{(\w+)\}/g;

interface Pattern {
  readonly form: RegExp;
  readonly text: string;
  readonly fixedChars: number;
}

const patternsBySentences = new Map<ServerWords, readonly Pattern[]>();

/** What an error says to the reader: its sentence, or what its code means and the server's own words. */
export function errorText(language: Language, error: ApiError): string {
  const words = WORDS[language];
  const { code, message } = error;
  if (words === undefined) return message;
  const meaning = words.codes[code] ?? words.codes.UNKNOWN ?? code;
  return translated(words, message) ?? filled(words.other, { code: meaning, message });
}

/** What is wrong with each field, by its path. */
export function fieldTexts(language: Language, error: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(messagesByField(error)).map(([path, message]) => [
      path,
      fieldText(language, message),
    ]),
  );
}

/** A sentence of the server outside of errors, such as why a webhook did not arrive; its own words where it is not known. */
export function sentenceText(language: Language, sentence: string): string {
  const words = WORDS[language];
  return words === undefined ? sentence : (translated(words, sentence) ?? sentence);
}

function fieldText(language: Language, message: string): string {
  const words = WORDS[language];
  if (words === undefined) return message;
  return translated(words, message) ?? filled(words.otherField, { message });
}

function translated(words: ServerWords, sentence: string): string | undefined {
  const same = words.sentences[sentence] ?? words.words[sentence];
  if (same !== undefined) return same;
  for (const { form, text } of patternsOf(words)) {
    const places = form.exec(sentence)?.groups;
    if (places !== undefined) {
      const values = Object.entries(places).map(([name, value]) => [
        name,
        TRANSLATED_PLACES.includes(name) ? (translated(words, value) ?? value) : value,
      ]);
      return filled(text, Object.fromEntries(values));
    }
  }
  return undefined;
}

/** Those that fix the most characters come first: they say more than a sentence of places. */
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
  return new RegExp(`^${fixed.replaceAll(PLACE, '(?<$1>.+?)')}$`, 's');
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(PLACE, (whole, name: string) => values[name] ?? whole);
}
