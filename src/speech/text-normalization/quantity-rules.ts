/** Money, percentages, measures, ranges and plain numbers; pure */
import type { Currency, LanguagePack, Rule } from './language-pack.ts';
import { END, numberParts, numberPattern, numberWords, rowOfDigits, START } from './number-text.ts';

export function quantityRules(pack: LanguagePack): readonly Rule[] {
  return [
    versionRule(pack),
    ...moneyRules(pack),
    percentRule(pack),
    unitRule(pack),
    perRule(pack),
    fractionRule(pack),
    rangeRule(pack),
    numberSignRule(pack),
    codeRule(pack),
    numberRule(pack),
  ];
}

/** `1.2.3` and `192.168.0.1`: no number has two points. */
function versionRule(pack: LanguagePack): Rule {
  const numbers = (text: string) => text.split('.').map((part) => numberWords(part, pack));
  return {
    pattern: new RegExp(`${START}\\d{1,5}\\.\\d{1,2}(?:\\.\\d{1,5}){1,3}${END}`, 'gu'),
    say: ({ parts: [text = ''] }) => numbers(text).join(` ${pack.words.dot} `),
  };
}

function moneyRules(pack: LanguagePack): readonly Rule[] {
  const number = numberPattern(pack);
  const names = alternatives(Object.keys(pack.currencies));
  const magnitudes = alternatives(Object.keys(pack.magnitudes));
  const magnitude = `(?:\\s?(${magnitudes})(?![\\p{L}\\p{N}]))?`;
  const say = (name: string, amount: string, size: string | undefined, sign: string) => {
    const currency = pack.currencies[name];
    if (currency === undefined) return null;
    const words = moneyWords(amount, size, currency, pack);
    return sign === '' ? words : `${pack.words.minus} ${words}`;
  };
  return [
    {
      pattern: new RegExp(
        `(?<![\\p{L}\\p{N}])([-−]?)(${names})\\s?(${number})${magnitude}${END}`,
        'gu',
      ),
      say: ({ parts: [, sign = '', name = '', amount = '', size] }) =>
        say(name, amount, size, sign),
    },
    {
      pattern: new RegExp(
        `${START}([-−]?)(${number})${magnitude}\\s?(${names})(?![\\p{L}\\p{N}])`,
        'gu',
      ),
      say: ({ parts: [, sign = '', amount = '', size, name = ''] }) =>
        say(name, amount, size, sign),
    },
  ];
}

function moneyWords(
  amount: string,
  size: string | undefined,
  currency: Currency,
  pack: LanguagePack,
): string {
  const { one, many, cent, cents, isFeminine = false, isCentFeminine = false } = currency;
  const magnitude = size === undefined ? undefined : pack.magnitudes[size];
  if (magnitude !== undefined) {
    return `${numberWords(amount, pack)} ${magnitude.say}${magnitude.of}${many}`;
  }
  const { whole, decimals } = numberParts(amount, pack);
  const units = Number(whole);
  if (decimals.length !== 2) {
    const unit = units === 1 && decimals === '' ? one : many;
    return `${numberWords(amount, pack, { isFeminine })} ${unit}`;
  }
  const hundredths = Number(decimals);
  const small = pack.cardinal(hundredths, { isFeminine: isCentFeminine });
  const smallName = hundredths === 1 ? cent : cents;
  if (units === 0 && hundredths > 0) return `${small} ${smallName}`;
  const large = `${numberWords(whole, pack, { isFeminine })} ${units === 1 ? one : many}`;
  if (hundredths === 0) return large;
  const { text, namesCents } = pack.moneyJoin;
  return `${large}${text}${small}${namesCents ? ` ${smallName}` : ''}`;
}

function percentRule(pack: LanguagePack): Rule {
  return {
    pattern: new RegExp(`${START}([-−]?)(${numberPattern(pack)})\\s?%`, 'gu'),
    say: ({ parts: [, sign = '', number = ''] }) =>
      `${minus(sign, pack)}${numberWords(number, pack)} ${pack.words.percent}`,
  };
}

function unitRule(pack: LanguagePack): Rule {
  const units = alternatives(Object.keys(pack.units));
  return {
    pattern: new RegExp(
      `${START}([-−]?)(${numberPattern(pack)})[\\s\\u00a0\\u202f]?(${units})(?![\\p{L}\\p{N}²³/])`,
      'gu',
    ),
    say: ({ parts: [, sign = '', number = '', name = ''] }) => {
      const unit = pack.units[name];
      if (unit === undefined) return null;
      const { whole, decimals } = numberParts(number, pack);
      const isOne = Number(whole) === 1 && decimals === '';
      const words = numberWords(number, pack, { isFeminine: unit.isFeminine ?? false });
      return `${minus(sign, pack)}${words} ${isOne ? unit.one : unit.many}`;
    },
  };
}

/** `/month` after an amount. */
function perRule(pack: LanguagePack): Rule {
  return {
    pattern: new RegExp(
      `(?<=[\\p{N}\\p{L}€$£])\\/(?=(?:${pack.perWords.join('|')})(?![\\p{L}\\p{N}]))`,
      'giu',
    ),
    say: () => pack.words.per,
  };
}

function fractionRule(pack: LanguagePack): Rule {
  const names = alternatives(Object.keys(pack.fractions));
  return {
    pattern: new RegExp(`(?<![\\p{L}\\p{N}/])(?:(\\d{1,3})[\\s]?)?(${names})(?![\\p{N}/])`, 'gu'),
    say: ({ parts: [, whole, name = ''] }) => {
      const words = pack.fractions[name] ?? null;
      if (whole === undefined || words === null) return words;
      return `${numberWords(whole, pack)} ${pack.words.and} ${words}`;
    },
  };
}

/** `9-17` and `1999–2005`; not `555-0132-7`. */
function rangeRule(pack: LanguagePack): Rule {
  const side = (text: string) =>
    /^(1[1-9]|20)\d{2}$/.test(text) ? pack.year(Number(text)) : numberWords(text, pack);
  return {
    pattern:
      /(?<![\p{L}\p{N}/:.,-])(\d{1,4})(?:-|\s?–\s?)(\d{1,4})(?![\p{L}\p{N}]|[-–/:.,]\p{N})/gu,
    say: ({ parts: [, from = '', to = ''] }) => `${side(from)} ${pack.words.to} ${side(to)}`,
  };
}

function numberSignRule(pack: LanguagePack): Rule {
  return {
    pattern: /(?<![\p{L}\p{N}#])#(\d{1,15})(?![\p{L}\p{N}])/gu,
    say: ({ parts: [, number = ''] }) => `${pack.words.number} ${numberWords(number, pack)}`,
  };
}

/** Capital letters and digits in one word, such as a booking code: each by itself. */
function codeRule(pack: LanguagePack): Rule {
  return {
    pattern: /(?<![\p{L}\p{N}])(?=[A-Z]{0,11}\d)(?=\d{0,11}[A-Z])[A-Z\d]{3,12}(?![\p{L}\p{N}])/gu,
    say: ({ parts: [code = ''] }) =>
      [...code].map((sign) => (/\d/.test(sign) ? rowOfDigits(sign, pack) : sign)).join(' '),
  };
}

function numberRule(pack: LanguagePack): Rule {
  return {
    pattern: new RegExp(`${START}([-−]?)(${numberPattern(pack)})(?!\\p{N}|/\\p{N})`, 'gu'),
    say: ({ parts: [, sign = '', number = ''] }) =>
      `${minus(sign, pack)}${numberWords(number, pack)}`,
  };
}

function minus(sign: string, { words }: LanguagePack): string {
  return sign === '' ? '' : `${words.minus} `;
}

/** Longest first, so that `km/h` is not taken for `km`. */
export function alternatives(names: readonly string[]): string {
  const escaped = [...names].sort((a, b) => b.length - a.length).map(escapePattern);
  return escaped.join('|');
}

export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
