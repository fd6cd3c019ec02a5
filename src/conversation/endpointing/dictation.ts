/** Detects dictation and its progress: telephone number, digits, spelling, e-mail or postal address; pure */

import type { CountryCode } from 'libphonenumber-js/max';
import { phoneLibrary } from '../../domain/dialing/phone-library.ts';
import type { TurnState } from '../turn/turn-state.ts';
import { numberOf, trailingDigits } from './number-words.ts';

/** What the caller dictates. */
export type DictationKind = 'phone' | 'digits' | 'spelling' | 'email' | 'address';

/** `begun`: more is sure to come. `perhaps`: it may be all. `whole`: there can be no more. */
export type DictationProgress = 'begun' | 'perhaps' | 'whole';

/** A dictation in progress. */
export interface Dictation {
  readonly kind: DictationKind;
  readonly progress: DictationProgress;
}

/** What the call knows of its place: languages and countries write their numbers differently. */
export interface DictationPlace {
  /** BCP 47. */
  readonly language: string;
  /** ISO 3166-1 alpha-2 of the agent's number; null when it has none. */
  readonly country: string | null;
}

/** How an agent asks for each, in the languages that agents mostly speak; the first that fits counts. */
const ASKED: readonly (readonly [DictationKind, RegExp])[] = [
  ['email', /\be-?mail|\bmail-?adresse|\bcorreo\b|\bcourriel\b|posta elettronica/i],
  ['spelling', /\bspell|deletre|buchstabier|épel|\bcompit|soletr/i],
  [
    'phone',
    /\b(phone|mobile|cell|callback|contact) number|\b(call|ring|reach) you\b|tel[eé]fono|móvil|telefon|handynummer|rufnummer|téléphone|cellulare|telemóvel|telefone/i,
  ],
  [
    'address',
    /\b(postal|street|home|delivery|mailing|your) address|direcci[oó]n|domicilio|anschrift|\badresse\b|indirizzo|endereço|morada/i,
  ],
  [
    'digits',
    /\b(number|digits?|code|pin|zip|postcode|número|código|cifras|numero|codice|cifre|\p{L}*nummer|ziffern?|\p{L}*zahl|numéro|chiffres)\b/iu,
  ],
];

/** What turns a dictation down, or asks back. */
const NO_PART = /^\W*(no|nope|yes|yeah|sí|si|nein|ja|non|oui|sim|não)\b|[?!]["')]?\s*$/i;

/** Without a country's rules, a telephone number is whole with this many digits. */
const PHONE_DIGITS = 10;

/** Fewer digits than this are no whole code or order number. */
const CODE_DIGITS_MIN = 4;

/** Of names, those with fewer letters are rare. */
const SPELT_LETTERS_MIN = 3;

/**
 * Tells what is being dictated, from the agent's question and the caller's words so far.
 *
 * @returns null when nothing is.
 */
export function dictationOf(
  text: string,
  question: string,
  place: DictationPlace,
): Dictation | null {
  const kind = dictationKindOf(text, question, place);
  if (kind === null) return null;
  const progress = PROGRESS[kind](text, question, place);
  return progress === null ? null : { kind, progress };
}

/** The country of an agent's number, E.164; undefined where there is none, or it belongs to several. */
export function countryOfNumber(number: string | null): string | undefined {
  return number === null ? undefined : phoneLibrary().parsePhoneNumberFromString(number)?.country;
}

/** The one that was asked for; else the one that the caller's own words are. */
function dictationKindOf(
  text: string,
  question: string,
  place: DictationPlace,
): DictationKind | null {
  const asked = askedFor(question) ?? askedFor(text);
  if (asked !== null) return asked;
  if (trailingDigits(text, place.language).length >= 2) return 'digits';
  return trailingLetters(text) >= 2 ? 'spelling' : null;
}

function askedFor(words: string): DictationKind | null {
  return ASKED.find(([, pattern]) => pattern.test(words))?.[0] ?? null;
}

type Judge = (text: string, question: string, place: DictationPlace) => DictationProgress | null;

const PROGRESS: Readonly<Record<DictationKind, Judge>> = {
  phone: (text, _question, place) => {
    const digits = trailingDigits(text, place.language);
    return digits === '' ? null : phoneProgress(digits, place.country);
  },
  digits: (text, question, { language }) => {
    const { length } = trailingDigits(text, language).replace('+', '');
    if (length === 0) return null;
    const expected = expectedDigits(question, language);
    if (expected !== null) return length < expected ? 'begun' : 'whole';
    if (length >= PHONE_DIGITS) return 'whole';
    return length < CODE_DIGITS_MIN ? 'begun' : 'perhaps';
  },
  spelling: (text) => {
    const letters = trailingLetters(text);
    if (letters === 0) return null;
    return letters < SPELT_LETTERS_MIN ? 'begun' : 'perhaps';
  },
  email: (text) => {
    if (isWholeEmail(text)) return 'whole';
    return NO_PART.test(text) && !hasEmailPart(text) ? null : 'begun';
  },
  address: (text, _question, place) => {
    if (NO_PART.test(text)) return null;
    const hasNumber = /\d/.test(text) || trailingDigits(text, place.language) !== '';
    return hasNumber ? 'perhaps' : 'begun';
  },
};

/** By the country's own lengths, so that ten digits are enough in one country and eleven in another. */
function phoneProgress(digits: string, country: string | null): DictationProgress {
  const place =
    country !== null && phoneLibrary().isSupportedCountry(country) ? country : undefined;
  if (place === undefined && !digits.startsWith('+')) {
    return digits.length >= PHONE_DIGITS ? 'whole' : 'begun';
  }
  if (!isWholeNumber(digits, place)) {
    return phoneLibrary().validatePhoneNumberLength(digits, place) === 'TOO_SHORT'
      ? 'begun'
      : 'perhaps';
  }
  const mayGoOn = phoneLibrary().validatePhoneNumberLength(`${digits}0`, place) !== 'TOO_LONG';
  return mayGoOn ? 'perhaps' : 'whole';
}

function isWholeNumber(digits: string, country: CountryCode | undefined): boolean {
  return phoneLibrary().parsePhoneNumberFromString(digits, country)?.isValid() === true;
}

/** Such as 6 of "your six-digit code"; null where the question does not say. */
function expectedDigits(question: string, language: string): number | null {
  const match =
    /([\p{L}\d]+)[- ](?:digit|stellig|dígitos|cifras|chiffres|cifre)/iu.exec(question) ??
    /(\d+|\p{L}+)stellig/iu.exec(question);
  return numberOf(match?.[1] ?? '', language) ?? null;
}

/** Letters said one by one at the end, as "S M I T H" or "S-M-I-T-H". */
function trailingLetters(text: string): number {
  const letters = /(?:\b\p{L}[\s.,-]+)*\b\p{L}\W*$/u.exec(text)?.[0] ?? '';
  return letters.match(/\p{L}/gu)?.length ?? 0;
}

/** "john at example dot com" and "john@example.com" are whole. */
function isWholeEmail(text: string): boolean {
  if (/@\S+\.[a-z]{2,}\W*$/i.test(text)) return true;
  return /\b(at|arroba|chiocciola|arobase|ät|klammeraffe)\b.*\b(dot|punto|point|punkt|ponto)\s+[a-z]{2,}\W*$/i.test(
    text,
  );
}

function hasEmailPart(text: string): boolean {
  return /@|\b(at|dot|arroba|punto|chiocciola|arobase|point|punkt|ponto)\b/i.test(text);
}

/** From the agent's last words and the caller's so far. Null when nothing is. */
export function dictationIn(state: TurnState, text: string): Dictation | null {
  const { history, rules } = state;
  const question = history.findLast(({ role }) => role === 'assistant')?.content ?? '';
  return dictationOf(text, question, { language: rules.brief.language, country: rules.country });
}
