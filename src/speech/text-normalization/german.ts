/** German: spoken forms of numbers, dates, symbols and abbreviations; pure */
import type { CalendarDay, ClockTime, Found, LanguagePack, Rule } from './language-pack.ts';
import { byScales, START } from './quantity-rules.ts';

const DIGITS = 'null eins zwei drei vier fünf sechs sieben acht neun'.split(' ');

const MONTHS =
  'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' ');

const MONTH =
  '(Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jan\\.|Feb\\.|Apr\\.|Aug\\.|Sept?\\.|Okt\\.|Nov\\.|Dez\\.)';

/** Words before an ordinal that ends in `en`. */
const DATIVE = /(?:^|[^\p{L}])(?:am|im|vom|zum|zur|beim|dem|den|der|bis|ab|seit|einem|jeden)\s$/iu;

const NOMINATIVE = /(?:^|[^\p{L}])(?:der|die|das|jede|diese|dieser)\s$/iu;

export const german: LanguagePack = {
  decimalMark: ',',
  groupMarks: ".'’\\u00a0\\u202f",
  dateOrder: 'dmy',
  digits: DIGITS,
  words: {
    ...{ minus: 'minus', point: 'Komma', percent: 'Prozent', and: 'und', to: 'bis', at: 'ät' },
    ...{ dot: 'Punkt', dash: 'Bindestrich', underscore: 'Unterstrich', slash: 'Schrägstrich' },
    ...{ plus: 'plus', equals: 'gleich', number: 'Nummer', per: ' pro ' },
    ...{ star: 'Stern', hash: 'Raute' },
  },
  currencies: {
    ...{ '€': { one: 'Euro', many: 'Euro', cent: 'Cent', cents: 'Cent' } },
    ...{ EUR: { one: 'Euro', many: 'Euro', cent: 'Cent', cents: 'Cent' } },
    ...{ Euro: { one: 'Euro', many: 'Euro', cent: 'Cent', cents: 'Cent' } },
    ...{ $: { one: 'Dollar', many: 'Dollar', cent: 'Cent', cents: 'Cent' } },
    ...{ USD: { one: 'US-Dollar', many: 'US-Dollar', cent: 'Cent', cents: 'Cent' } },
    ...{ '£': { one: 'Pfund', many: 'Pfund', cent: 'Penny', cents: 'Pence' } },
    ...{ CHF: { one: 'Franken', many: 'Franken', cent: 'Rappen', cents: 'Rappen' } },
  },
  moneyJoin: { text: ' ', namesCents: false },
  magnitudes: {
    ...{ 'Mio.': { say: 'Millionen', of: ' ' }, Millionen: { say: 'Millionen', of: ' ' } },
    ...{ 'Mrd.': { say: 'Milliarden', of: ' ' }, Milliarden: { say: 'Milliarden', of: ' ' } },
  },
  units: {
    ...unit('km', 'Kilometer'),
    ...unit('m', 'Meter'),
    ...unit('cm', 'Zentimeter'),
    ...unit('mm', 'Millimeter'),
    ...unit('kg', 'Kilogramm'),
    ...unit('g', 'Gramm'),
    ...unit('mg', 'Milligramm'),
    ...unit('l', 'Liter'),
    ...unit('ml', 'Milliliter'),
    ...unit('km/h', 'Kilometer pro Stunde'),
    ...unit('m²', 'Quadratmeter'),
    ...unit('°', 'Grad'),
    ...unit('°C', 'Grad Celsius'),
    ...{ Std: { one: 'Stunde', many: 'Stunden', isFeminine: true } },
    ...{ 'Std.': { one: 'Stunde', many: 'Stunden', isFeminine: true } },
    ...{ min: { one: 'Minute', many: 'Minuten', isFeminine: true } },
    ...{ 'Sek.': { one: 'Sekunde', many: 'Sekunden', isFeminine: true } },
    ...{ 'Min.': { one: 'Minute', many: 'Minuten', isFeminine: true } },
    ...unit('MB', 'Megabyte'),
    ...unit('GB', 'Gigabyte'),
    ...unit('kW', 'Kilowatt'),
    ...{ kWh: { one: 'Kilowattstunde', many: 'Kilowattstunden', isFeminine: true } },
  },
  fractions: {
    ...{ '1/2': 'ein halb', '½': 'ein halb', '1/3': 'ein Drittel', '2/3': 'zwei Drittel' },
    ...{ '1/4': 'ein Viertel', '¼': 'ein Viertel', '3/4': 'drei Viertel', '¾': 'drei Viertel' },
    '24/7': 'vierundzwanzig sieben',
  },
  abbreviations: [
    ['z\\.\\s?B\\.', 'zum Beispiel'],
    ['d\\.\\s?h\\.', 'das heißt'],
    ['u\\.\\s?a\\.', 'unter anderem'],
    ['usw\\.', 'und so weiter'],
    ['bzw\\.', 'beziehungsweise'],
    ['ca\\.', 'zirka'],
    ['evtl\\.', 'eventuell'],
    ['inkl\\.', 'inklusive'],
    ['zzgl\\.', 'zuzüglich'],
    ['Dr\\.(?=\\s)', 'Doktor'],
    ['Prof\\.(?=\\s)', 'Professor'],
    ['Hr\\.(?=\\s)', 'Herr'],
    ['Fr\\.(?=\\s\\p{Lu})', 'Frau'],
    ['Nr\\.(?=\\s?\\d|\\s)', 'Nummer'],
    ['Tel\\.', 'Telefon'],
    ['[Mm]ax\\.', 'maximal'],
    ['[Mm]in\\.(?=\\s\\d)', 'mindestens'],
    ['Str\\.', 'Straße'],
    ['MwSt\\.', 'Mehrwertsteuer'],
    ['geb\\.', 'geboren'],
    ['Abs\\.(?=\\s?\\d)', 'Absatz'],
    ['Art\\.(?=\\s?\\d)', 'Artikel'],
    ['Zi\\.(?=\\s?\\d)', 'Zimmer'],
    ['Kto\\.', 'Konto'],
    ['§(?=\\s?\\d)', 'Paragraf'],
    ['St\\.(?=\\s\\p{Lu})', 'Sankt'],
    ['und/oder(?!\\p{L})', 'und oder'],
    ['er/sie(?!\\p{L})', 'er oder sie'],
    ['m/w/d(?!\\p{L})', 'männlich, weiblich, divers'],
    ['~(?=\\d)', 'etwa'],
  ],
  spelt: [
    'EU',
    'USA',
    'ADAC',
    'API',
    'AG',
    'EC',
    'EDV',
    'IT',
    'ID',
    'IP',
    'AOK',
    'ICE',
    'IC',
    'UN',
    'EKG',
  ],
  weekdays: weekdays(),
  labels: [
    '\\p{L}*[Nn]ummer',
    '(?:\\p{L}+-)?Nr\\.',
    'PLZ',
    'Postleitzahl',
    '\\p{L}*[Cc]ode',
    'PIN',
    'Kto\\.',
    'Konto',
  ],
  dialed:
    '(?<=(?:Notruf|[Ww]ählen Sie|[Rr]ufen Sie|[Dd]ie|der|[Uu]nter)\\s)(?:110|112)(?=\\s?[.,;:!?)]|$|\\s\\p{Ll}{3})',
  numbered: [
    ...'Kapitel Teil Band Akt Szene Phase Abschnitt Stufe Typ Artikel Klasse Buch Titel Anhang'.split(
      ' ',
    ),
    ...['Weltkrieg', 'Level', 'Grad', 'Stadium', 'Kategorie'],
  ],
  dateCues: ['am', 'vom', 'zum', 'bis', 'ab', 'seit', 'dem'],
  perWords: ['Monat', 'Jahr', 'Woche', 'Tag', 'Nacht', 'Stunde', 'Person', 'Minute'],
  cardinal: (number, counted) =>
    germanCardinal(number, counted === undefined ? 'eins' : counted.isFeminine ? 'eine' : 'ein'),
  year: germanYear,
  date: dateWords,
  time: timeWords,
  digitGroup: (group) => [...group].map((digit) => DIGITS[Number(digit)] ?? digit).join(' '),
  rules: rules(),
};

function unit(symbol: string, name: string) {
  return { [symbol]: { one: name, many: name } };
}

function weekdays(): Readonly<Record<string, string>> {
  const names = 'Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag'.split(' ');
  const forms = names.flatMap((name) => [
    [name, name],
    [name.slice(0, 2), name],
  ]);
  return { ...Object.fromEntries(forms), Sonnabend: 'Sonnabend' };
}

/** The ending goes by the word before: `am zweiten`, `der zweite`, and `zweiter` with none. */
function endingAfter(before: string): 'e' | 'en' | 'er' {
  if (NOMINATIVE.test(before)) return 'e';
  return DATIVE.test(before) ? 'en' : 'er';
}

function dateWords({ day, month, year }: CalendarDay, { before }: Found): string {
  const words = `${germanOrdinal(day, endingAfter(before))} ${MONTHS[month - 1]}`;
  return year === undefined ? words : `${words} ${germanYear(year)}`;
}

function timeWords({ hour, minute }: ClockTime): string {
  const hours = `${germanCardinal(hour, 'ein')} Uhr`;
  return minute === 0 ? hours : `${hours} ${germanCardinal(minute)}`;
}

function rules(): readonly Rule[] {
  return [
    {
      pattern:
        /(?<![\p{L}\p{N}.,:/-])([01]?\d|2[0-4])(?:[:.]([0-5]\d))?\s?Uhr(?:\s([0-5]?\d)(?![\p{N}\p{L}:]|[.,]\p{N}))?(?!\p{L})/gu,
      say: ({ parts: [, hour = '', minute, later] }) =>
        timeWords({ hour: Number(hour), minute: Number(minute ?? later ?? 0) }),
    },
    ...shortFormRules(),
    {
      pattern: new RegExp(
        `${START}(\\d{1,2})\\.\\s?${MONTH}(?!\\p{L})(?:\\s(\\d{4})(?!\\p{N}))?`,
        'gu',
      ),
      say: (found) => {
        const [, day = '', month = '', year] = found.parts;
        const number = Number(day);
        const start = month.slice(0, 3).replace('Jän', 'Jan');
        const at = MONTHS.findIndex((name) => name.startsWith(start)) + 1;
        if (number < 1 || number > 31 || at === 0) return null;
        const date = { day: number, month: at };
        return dateWords(year === undefined ? date : { ...date, year: Number(year) }, found);
      },
    },
    {
      pattern: /(?<![\p{L}\p{N}.,/-])(\d{1,2})\.\s?(\d{1,2})\.(?!\p{N})/gu,
      say: (found) => {
        const [, day = '', month = ''] = found.parts;
        const date = { day: Number(day), month: Number(month) };
        if (date.day < 1 || date.day > 31 || date.month < 1 || date.month > 12) return null;
        return `${dateWords(date, found)}${found.after.trim() === '' ? '.' : ''}`;
      },
    },
    {
      pattern:
        /(?<=(?:^|[^\p{L}])(?:am|im|vom|zum|zur|beim|dem|den|der|die|das|jede|jeden|diese|dieser)\s)(\d{1,3})\.(?=\s\p{Lu})/giu,
      say: ({ parts: [, number = ''], before }) =>
        germanOrdinal(Number(number), endingAfter(before) === 'e' ? 'e' : 'en'),
    },
    {
      pattern: new RegExp(
        `(?<=(?:Jahr|Jahre|Jahres|${MONTHS.join('|')}|seit|anno)\\s)((?:1[1-9]|20)\\d{2})(?![\\p{L}\\p{N}]|[.,:/-]\\p{N})`,
        'gu',
      ),
      say: ({ parts: [, year = ''] }) => germanYear(Number(year)),
    },
    {
      // The gender is the noun's; most that end in e are feminine.
      pattern: /(?<![\p{L}\p{N}.,:/-])1(?=\s\p{Lu}\p{Ll}*?(e?)(?!\p{L}))/gu,
      say: ({ parts: [, ending = ''] }) => (ending === '' ? 'ein' : 'eine'),
    },
  ];
}

/** `Hauptstr.`, `20,- €` and `3.–5. Mai` */
function shortFormRules(): readonly Rule[] {
  return [
    {
      pattern: /(?<!\p{L})(\p{Lu}\p{Ll}{1,30})str\.(?!\p{L})/gu,
      say: ({ parts: [, name = ''] }) => `${name}straße`,
    },
    {
      pattern:
        /(?<=(?<!\p{L})(?:Durchwahl|DW|Nebenstelle|Apparat)\s?-?)(\d{1,5})(?![\p{L}\p{N}]|[-/:.,]\p{N})/gu,
      say: ({ parts: [, digits = ''] }) =>
        [...digits].map((digit) => DIGITS[Number(digit)]).join(' '),
    },
    {
      // 20,- € and CHF 20.–
      pattern:
        /(?<![\p{L}\p{N}.,:/-])(?:(CHF|EUR|€)\s?)?(\d{1,6})[.,][-–—]{1,2}(?:\s?(€|EUR|Euro|CHF))?(?![\p{L}\p{N}])/gu,
      say: ({ parts: [, before, amount = '', after] }) => {
        const name = before ?? after;
        const unit = name === undefined ? '' : name === 'CHF' ? ' Franken' : ' Euro';
        return `${germanCardinal(Number(amount), unit === '' ? 'eins' : 'ein')}${unit}`;
      },
    },
    {
      pattern: new RegExp(
        `${START}(\\d{1,2})\\.\\s?[-–]\\s?(\\d{1,2})\\.\\s?${MONTH}(?!\\p{L})`,
        'gu',
      ),
      say: (found) => {
        const [, from = '', to = '', month = ''] = found.parts;
        const ending = endingAfter(found.before);
        const days = [from, to].map((day) => germanOrdinal(Number(day), ending));
        const start = month.slice(0, 3).replace('Jän', 'Jan');
        return `${days.join(' bis ')} ${MONTHS.find((name) => name.startsWith(start))}`;
      },
    },
  ];
}

const ONES = (
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn ' +
  'sechzehn siebzehn achtzehn neunzehn'
).split(' ');

const TENS = '- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ');

const IRREGULAR: Readonly<Record<number, string>> = {
  1: 'erst',
  3: 'dritt',
  7: 'siebt',
  8: 'acht',
};

/** @param one how a one at the end is said: `ein Euro`, `eine Million`, `einhunderteins`. */
function germanCardinal(number: number, one: 'eins' | 'ein' | 'eine' = 'eins'): string {
  const scales = [
    {
      value: 1e9,
      say: (count: number) => `${upTo999(count, 'eine')} Milliarde${count === 1 ? '' : 'n'}`,
    },
    {
      value: 1e6,
      say: (count: number) => `${upTo999(count, 'eine')} Million${count === 1 ? '' : 'en'}`,
    },
  ];
  return byScales(number, scales, (rest) => upTo999999(rest, one));
}

/** With the ending that the place in the sentence asks for: `e`, `en` or `er`. */
function germanOrdinal(number: number, ending: 'e' | 'en' | 'er'): string {
  return `${ordinalStem(number)}${ending}`;
}

/** `neunzehnhundertneunundneunzig`, `zweitausendsechs`. */
function germanYear(year: number): string {
  if (year < 1100 || year > 1999) return germanCardinal(year);
  const rest = year % 100;
  return `${upTo99(Math.floor(year / 100), 'ein')}hundert${rest === 0 ? '' : upTo99(rest, 'eins')}`;
}

function ordinalStem(number: number): string {
  const rest = number % 100;
  const before = number - rest === 0 ? '' : germanCardinal(number - rest, 'ein');
  if (rest === 0) return `${before}st`;
  const stem = IRREGULAR[rest] ?? (rest < 20 ? `${ONES[rest]}t` : `${upTo99(rest, 'eins')}st`);
  return `${before}${stem}`;
}

function upTo999999(number: number, one: string): string {
  const thousands = Math.floor(number / 1000);
  if (thousands === 0) return upTo999(number, one);
  const rest = number % 1000;
  return `${upTo999(thousands, 'ein')}tausend${rest === 0 ? '' : upTo999(rest, one)}`;
}

function upTo999(number: number, one: string): string {
  if (number < 100) return upTo99(number, one);
  const rest = number % 100;
  const hundreds = Math.floor(number / 100);
  return `${hundreds === 1 ? 'ein' : ONES[hundreds]}hundert${rest === 0 ? '' : upTo99(rest, one)}`;
}

function upTo99(number: number, one: string): string {
  if (number === 1) return one;
  if (number < 20) return ONES[number] ?? '';
  const rest = number % 10;
  const tens = TENS[Math.floor(number / 10)] ?? '';
  if (rest === 0) return tens;
  return `${rest === 1 ? 'ein' : ONES[rest]}und${tens}`;
}
