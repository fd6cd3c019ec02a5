/** Reads the digits at the end of a text, written as numerals or number words; pure */

interface NumberWords {
  /** Worth 0 to 99. */
  readonly values: ReadonlyMap<string, number>;
  /** Said between tens and units. */
  readonly joins: ReadonlySet<string>;
}

/** Zero to nineteen, then twenty to ninety; a word for nothing in between is a dash. */
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
export function numberOf(word: string, language: string): number | undefined {
  return /^\d+$/.test(word) ? Number(word) : wordsOf(language).values.get(word.toLowerCase());
}

function wordsOf(language: string): NumberWords {
  const code = language.toLowerCase().split('-')[0] ?? '';
  return WORDS.get(code) ?? ENGLISH;
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

/** A unit goes on any tens, ten to nineteen on French sixty and eighty. */
function fits(tens: number, value: number, joins: ReadonlySet<string>): boolean {
  const goesTo = joins.has('et') && (tens === 60 || tens === 80) ? 19 : 9;
  return tens % 10 === 0 && value > 0 && value <= goesTo;
}
