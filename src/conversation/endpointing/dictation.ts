/** Detects dictation and its progress: telephone number, digits or number words, spelling, e-mail or postal address; pure */
import type { CountryCode } from 'libphonenumber-js/max';
import { phoneLibrary } from '../../domain/dialing/phone-library.ts';
import { languageOf } from '../../lib/language-tag.ts';
import type { TurnState } from '../turn/turn-state.ts';

/** Kinds of dictation. */
export type DictationKind = 'phone' | 'digits' | 'spelling' | 'email' | 'address';

/** `begun`: more is sure to come. `perhaps`: it may be all. `whole`: there can be no more. */
type DictationProgress = 'begun' | 'perhaps' | 'whole';

/** A dictation in progress. */
export interface Dictation {
  readonly kind: DictationKind;
  readonly progress: DictationProgress;
}

/** Language and country of the call: both decide how numbers are written. */
interface DictationPlace {
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

/** Answers that turn a dictation down, or ask back. */
const NO_PART = /^\W*(no|nope|yes|yeah|sí|si|nein|ja|non|oui|sim|não)\b|[?!]["')]?\s*$/i;

/** Digits of a whole telephone number where the country's rules are not known. */
const PHONE_DIGITS = 10;

/** Fewer digits than this are no whole code or order number. */
const CODE_DIGITS_MIN = 4;

/** A payment card's number has this many digits, a few issuers' one less. */
const CARD_DIGITS = 16;

const CARD_ASKED =
  /\bcard number|kartennummer|número de (?:su |la )?tarjeta|numéro de (?:votre |la )?carte|numero (?:della )?carta|número do cartão/i;

/** Fewest letters of a spelt word: shorter names are rare. */
const SPELT_LETTERS_MIN = 3;

/**
 * Finds the dictation in progress, from the agent's question and the caller's words so far.
 *
 * @returns null without a dictation.
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
  return trailingLetters(text) >= 2 || AS_IN_AT_END.test(text) ? 'spelling' : null;
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
    if (CARD_ASKED.test(question)) return cardProgress(length);
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

/** Progress of a telephone number by the country's own lengths: ten digits are enough in one country, eleven in another. */
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

/** Number of digits that the question asks for, such as 6 in "your six-digit code"; null where it does not say. */
function expectedDigits(question: string, language: string): number | null {
  const match =
    /([\p{L}\d]+)[- ](?:digit|stellig|dígitos|cifras|chiffres|cifre)/iu.exec(question) ??
    /(\d+|\p{L}+)stellig/iu.exec(question);
  return numberOf(match?.[1] ?? '', language) ?? null;
}

function cardProgress(digits: number): DictationProgress {
  if (digits >= CARD_DIGITS) return 'whole';
  return digits === CARD_DIGITS - 1 ? 'perhaps' : 'begun';
}

/** A letter with a word that begins with it: "K as in kilo", "M wie Martha". */
const AS_IN = '(?<!\\p{L})(\\p{L}),?\\s+(?:as in|for|wie|de|comme)\\s+\\1\\p{L}+';

const AS_IN_EVERYWHERE = new RegExp(AS_IN, 'giu');
const AS_IN_AT_END = new RegExp(`${AS_IN}[\\s.,]*$`, 'iu');

/** Letters said one by one at the end, as "S M I T H", "S-M-I-T-H" or "S as in sugar, M as in mike". */
function trailingLetters(text: string): number {
  const spelt = text.replace(AS_IN_EVERYWHERE, '$1');
  const letters = /(?:\b\p{L}[\s.,-]+)*\b\p{L}\W*$/u.exec(spelt)?.[0] ?? '';
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

/** The dictation in progress, from the agent's last words and the caller's words so far; null without one. */
export function dictationIn(state: TurnState, text: string): Dictation | null {
  const { history, rules } = state;
  const question = history.findLast(({ role }) => role === 'assistant')?.content ?? '';
  return dictationOf(text, question, { language: rules.brief.language, country: rules.country });
}

interface NumberWords {
  /** Worth 0 to 99. */
  readonly values: ReadonlyMap<string, number>;
  /** Said between tens and units. */
  readonly joins: ReadonlySet<string>;
}

/** Words for zero to nineteen, then for twenty to ninety; a dash stands for a word that the language does not have. */
const SPOKEN = {
  en:
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
    'seventeen eighteen nineteen | twenty thirty forty fifty sixty seventy eighty ninety | oh:0 ought:0 | and',
  es:
    'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis ' +
    'diecisiete dieciocho diecinueve | veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa | ' +
    'veintiuno:21 veintidós:22 veintitrés:23 veinticuatro:24 veinticinco:25 veintiséis:26 veintisiete:27 ' +
    'veintiocho:28 veintinueve:29 | y',
  de:
    'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn ' +
    'siebzehn achtzehn neunzehn | zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig | zwo:2 | und',
  fr:
    'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize - - - | ' +
    'vingt trente quarante cinquante soixante - - - | une:1 vingts:20 | et',
  it:
    'zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici ' +
    'diciassette diciotto diciannove | venti trenta quaranta cinquanta sessanta settanta ottanta novanta | | e',
  pt:
    'zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis dezassete ' +
    'dezoito dezanove | vinte trinta quarenta cinquenta sessenta setenta oitenta noventa | uma:1 meia:6 | e',
} as const;

const WORDS: ReadonlyMap<string, NumberWords> = new Map(
  Object.entries(SPOKEN).map(([language, list]) => [language, readWords(list)]),
);

const ENGLISH = readWords(SPOKEN.en);

/** Said inside a number without being part of it. */
const BETWEEN = new Set(
  (
    'um uh er erm then and again dash hyphen space point is eh este luego guion y äh ähm dann strich und ' +
    'euh puis tiret et ehm poi trattino e depois hífen'
  ).split(' '),
);

const REPEATS: Readonly<Record<string, number>> = {
  ...{ double: 2, triple: 3, doble: 2, doppel: 2, doppio: 2, duplo: 2 },
};

/**
 * The digits at the end of a text, with a plus before them where one was said.
 *
 * @param language BCP 47; English where its numbers are not known.
 */
export function trailingDigits(text: string, language: string): string {
  const words = wordsOf(language);
  const tokens = tokensOf(text, language);
  const isPart = (token: string) =>
    /^\+?\d+$/.test(token) || words.values.has(token) || token in REPEATS || token === 'plus';
  const end = tokens.findLastIndex((token) => !isPart(token) && !BETWEEN.has(token));
  return digitsOf(tokens.slice(end + 1), words);
}

/** The value of one number word or numeral, such as the "six" of "six-digit"; undefined when it is none. */
function numberOf(word: string, language: string): number | undefined {
  return /^\d+$/.test(word) ? Number(word) : wordsOf(language).values.get(word.toLowerCase());
}

function wordsOf(language: string): NumberWords {
  return WORDS.get(languageOf(language)) ?? ENGLISH;
}

function readWords(list: string): NumberWords {
  const [ones = '', tens = '', others = '', joins = ''] = list
    .split('|')
    .map((part) => part.trim());
  const pairs = (text: string, value: (index: number) => number) =>
    text.split(' ').map((word, index) => [word, value(index)] as const);
  const extra = others
    .split(' ')
    .map((pair) => pair.split(':'))
    .map(([word = '', value]) => [word, Number(value)] as const);
  const all = [...pairs(ones, (one) => one), ...pairs(tens, (ten) => 10 * (ten + 2)), ...extra];
  const values = new Map(all.filter(([word]) => word !== '-' && word !== ''));
  return { values, joins: new Set(joins.split(' ')) };
}

function tokensOf(text: string, language: string): string[] {
  const plain = text.toLowerCase().replace(/(\d)[\s./()-]+(?=\d)/g, '$1');
  const tokens = plain.split(/[\s,.!?;:()/-]+/).filter((word) => word !== '');
  return language.toLowerCase().startsWith('de') ? tokens.flatMap(splitGerman) : tokens;
}

/** "einundzwanzig" says its units first. */
function splitGerman(token: string): readonly string[] {
  const match = /^(ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und(\p{L}+)$/u.exec(token);
  if (match === null) return [token];
  const [, unit = '', ten = ''] = match;
  return [ten, unit === 'ein' ? 'eins' : unit];
}

/** A number as far as it has been read. */
interface Reading {
  readonly parts: readonly string[];
  /** Whether a unit may still be added to the last part, which is tens said as a word. */
  readonly isOpen: boolean;
  /** How often the next part counts, after "double". */
  readonly repeat: number;
}

function digitsOf(tokens: readonly string[], words: NumberWords): string {
  const nothing: Reading = { parts: [], isOpen: false, repeat: 1 };
  const { parts } = tokens.reduce((reading, token) => readOne(reading, token, words), nothing);
  const digits = parts.join('');
  return (digits.startsWith('+') ? '+' : '') + digits.replaceAll('+', '');
}

function readOne(reading: Reading, token: string, { values, joins }: NumberWords): Reading {
  const { parts, isOpen, repeat } = reading;
  if (isOpen && joins.has(token)) return reading;
  const last = Number(parts.at(-1));
  const value = values.get(token);
  const replaceLast = (by: number): Reading => {
    return { parts: [...parts.slice(0, -1), String(by)], isOpen: true, repeat: 1 };
  };
  if (/^vingts?$/.test(token) && last === 4) return replaceLast(80);
  if (value !== undefined && isOpen && fits(last, value, joins)) return replaceLast(last + value);

  const digits = digitsAlone(token, value);
  if (digits === null) return { parts, isOpen: false, repeat: REPEATS[token] ?? 1 };
  const isTens = value !== undefined && value >= 20 && value % 10 === 0;
  return { parts: [...parts, digits.repeat(repeat)], isOpen: isTens, repeat: 1 };
}

function digitsAlone(token: string, value: number | undefined): string | null {
  if (token === 'plus') return '+';
  if (value !== undefined) return String(value);
  return /^\+?\d+$/.test(token) ? token : null;
}

/** Whether a number joins the tens before it: 1 to 9 with any tens, 10 to 19 with 60 and 80 in French. */
function fits(tens: number, value: number, joins: ReadonlySet<string>): boolean {
  const goesTo = joins.has('et') && (tens === 60 || tens === 80) ? 19 : 9;
  return tens % 10 === 0 && value > 0 && value <= goesTo;
}
