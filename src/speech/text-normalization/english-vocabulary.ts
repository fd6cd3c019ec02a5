/** English vocabulary: currencies, units, weekdays, abbreviations and acronyms; pure */
import type { Counted } from './language-pack.ts';

export const ENGLISH_CURRENCIES = {
  ...money('$', 'dollar', 'dollars', 'cent', 'cents'),
  ...money('USD', 'US dollar', 'US dollars', 'cent', 'cents'),
  ...money('€', 'euro', 'euros', 'cent', 'cents'),
  ...money('US$', 'US dollar', 'US dollars', 'cent', 'cents'),
  ...money('CA$', 'Canadian dollar', 'Canadian dollars', 'cent', 'cents'),
  ...money('A$', 'Australian dollar', 'Australian dollars', 'cent', 'cents'),
  ...money('₹', 'rupee', 'rupees', 'paisa', 'paise'),
  ...money('EUR', 'euro', 'euros', 'cent', 'cents'),
  ...money('£', 'pound', 'pounds', 'penny', 'pence'),
  ...money('GBP', 'pound', 'pounds', 'penny', 'pence'),
  ...money('CHF', 'Swiss franc', 'Swiss francs', 'centime', 'centimes'),
  ...money('¥', 'yen', 'yen', 'sen', 'sen'),
};

function money(sign: string, one: string, many: string, cent: string, cents: string) {
  return { [sign]: { one, many, cent, cents } };
}

export const ENGLISH_MAGNITUDES = {
  ...{ k: { say: 'thousand', of: ' ' }, K: { say: 'thousand', of: ' ' } },
  ...{ thousand: { say: 'thousand', of: ' ' }, million: { say: 'million', of: ' ' } },
  ...{ M: { say: 'million', of: ' ' }, m: { say: 'million', of: ' ' } },
  ...{ billion: { say: 'billion', of: ' ' }, bn: { say: 'billion', of: ' ' } },
  ...{ B: { say: 'billion', of: ' ' }, trillion: { say: 'trillion', of: ' ' } },
};

export const ENGLISH_FRACTIONS = {
  ...{ '1/2': 'one half', '½': 'a half', '1/3': 'one third', '2/3': 'two thirds' },
  ...{ '1/4': 'one quarter', '¼': 'a quarter', '3/4': 'three quarters', '¾': 'three quarters' },
  '24/7': 'twenty-four seven',
};

export function englishWeekdays(): Readonly<Record<string, string>> {
  const names = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');
  const forms = names.flatMap((name) => [
    [name, name],
    [name.slice(0, 3), name],
    [name.slice(0, name.startsWith('Thu') ? 5 : 4), name],
  ]);
  return Object.fromEntries(forms);
}

/** Nouns before a number that is a name, read digit by digit. "Order" is none: an order of 1500 may be a quantity. */
export const ENGLISH_LABELS: readonly string[] = [
  ...['\\p{L}*number(?: is)?', 'no\\.', 'zip(?: code)?', '\\p{L}*code(?: is)?', 'PIN', 'ID'],
  ...['account', 'reference', 'confirmation', 'ticket', 'invoice', 'case'],
  '(?:order|booking)(?=\\s#?\\d{5})',
];

export function englishUnits(isBritish: boolean): Readonly<Record<string, Counted>> {
  const metre = isBritish ? 'metre' : 'meter';
  const litre = isBritish ? 'litre' : 'liter';
  return {
    ...regular('km', `kilo${metre}`),
    ...regular('m', metre),
    ...regular('cm', `centi${metre}`),
    ...regular('mm', `milli${metre}`),
    ...regular('kg', 'kilogram'),
    ...regular('g', 'gram'),
    ...regular('mg', 'milligram'),
    ...regular('l', litre),
    ...regular('ml', `milli${litre}`),
    ...regular('mi', 'mile'),
    ...regular('yd', 'yard'),
    ...{ ft: { one: 'foot', many: 'feet' }, 'sq ft': { one: 'square foot', many: 'square feet' } },
    ...regular('oz', 'ounce'),
    ...regular('lb', 'pound'),
    ...regular('lbs', 'pound'),
    ...{ 'km/h': { one: `kilo${metre} per hour`, many: `kilo${metre}s per hour` } },
    ...{ mph: { one: 'mile per hour', many: 'miles per hour' } },
    ...{ 'm²': { one: `square ${metre}`, many: `square ${metre}s` } },
    ...{ '°': { one: 'degree', many: 'degrees' } },
    ...{ '°C': { one: 'degree Celsius', many: 'degrees Celsius' } },
    ...{ '°F': { one: 'degree Fahrenheit', many: 'degrees Fahrenheit' } },
    ...regular('h', 'hour'),
    ...regular('hr', 'hour'),
    ...regular('hrs', 'hour'),
    ...regular('min', 'minute'),
    ...regular('mins', 'minute'),
    ...regular('sec', 'second'),
    ...regular('ms', 'millisecond'),
    ...regular('kB', 'kilobyte'),
    ...regular('MB', 'megabyte'),
    ...regular('GB', 'gigabyte'),
    ...regular('TB', 'terabyte'),
    ...regular('W', 'watt'),
    ...regular('kW', 'kilowatt'),
    ...regular('kWh', 'kilowatt hour'),
    ...{ Hz: { one: 'hertz', many: 'hertz' }, kHz: { one: 'kilohertz', many: 'kilohertz' } },
  };
}

function regular(symbol: string, name: string): Record<string, Counted> {
  return { [symbol]: { one: name, many: `${name}s` } };
}

/** Patterns and words. `St` before a capital letter is Saint, otherwise `St.` is Street. */
export const ENGLISH_ABBREVIATIONS: readonly (readonly [string, string])[] = [
  ['Mr\\.?(?=\\s\\p{Lu})', 'Mister'],
  ['Mrs\\.?(?=\\s\\p{Lu})', 'Missus'],
  ['Ms\\.?(?=\\s\\p{Lu})', 'Miz'],
  ['Dr\\.?(?=\\s\\p{Lu})', 'Doctor'],
  ['Prof\\.(?=\\s\\p{Lu})', 'Professor'],
  ['St\\.?(?=\\s\\p{Lu})', 'Saint'],
  ['(?<=\\p{L}\\s)St\\.', 'Street'],
  ['(?<=\\p{L}\\s)Rd\\.', 'Road'],
  ['(?<=\\p{L}\\s)Ave\\.', 'Avenue'],
  ['(?<=\\p{L}\\s)Blvd\\.', 'Boulevard'],
  ['Apt\\.', 'Apartment'],
  ['Jr\\.', 'Junior'],
  ['Sr\\.', 'Senior'],
  ['Inc\\.', 'Incorporated'],
  ['Ltd\\.', 'Limited'],
  ['Corp\\.', 'Corporation'],
  ['Dept\\.', 'Department'],
  ['e\\.\\s?g\\.', 'for example'],
  ['i\\.\\s?e\\.', 'that is'],
  ['etc\\.', 'et cetera'],
  ['vs\\.?(?=\\s)', 'versus'],
  ['approx\\.', 'approximately'],
  ['appt\\.', 'appointment'],
  ['tel\\.', 'telephone'],
  ['a\\.m\\.', 'a m'],
  ['p\\.m\\.', 'p m'],
  ['w/o(?=\\s)', 'without'],
  ['w/(?=\\s)', 'with'],
  ['and/or(?!\\p{L})', 'and or'],
  ['he/she(?!\\p{L})', 'he or she'],
  ['s/he(?!\\p{L})', 'she or he'],
  ['his/her(?!\\p{L})', 'his or her'],
  ['him/her(?!\\p{L})', 'him or her'],
  ['n/a(?!\\p{L})', 'not applicable'],
  ['N/A(?!\\p{L})', 'not applicable'],
  ['~(?=\\d)', 'about'],
];

/** Nouns that Roman numerals number. */
export const ENGLISH_NUMBERED: readonly string[] = [
  ...'Chapter Part Volume Vol\\. Act Scene Phase Section Level Type type Stage Book Title Article Appendix'.split(
    ' ',
  ),
  ...['[Ww]orld [Ww]ar', 'Super Bowl', 'Class', 'Grade', 'Schedule', 'Division', 'Tier'],
];

/** Abbreviations that have a vowel and are spelt all the same; without a vowel, all are spelt. */
export const ENGLISH_SPELT: readonly string[] = (
  'USA US UK EU UN UAE API FAQ ATM ID AI IT IP URL USB CEO CIA FBI FAA FDA EPA IRS IBM HIV ETA ' +
  'RSVP MRI ER ICU AC SUV LED UPS USPS IOU EV CV HQ AA ABC IQ DIY UV VIP UI UX PO GPA NYC LA'
).split(' ');
