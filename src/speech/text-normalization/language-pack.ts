/** Language pack: facts of a language for reading out text that is not written in words. */

/** How a noun is counted. */
export interface Counted {
  readonly one: string;
  readonly many: string;
  readonly isFeminine?: boolean;
}

export interface Currency extends Counted {
  readonly cent: string;
  readonly cents: string;
  readonly isCentFeminine?: boolean;
}

/** A match and the text around it. */
export interface Found {
  /** The whole match and its groups; a group that took no part is undefined. */
  readonly parts: readonly (string | undefined)[];
  readonly before: string;
  readonly after: string;
}

/** A rule for text that is not spoken as it is written. Patterns have the flags `gu`, and `i` where case does not matter. */
export interface Rule {
  readonly pattern: RegExp;
  /** Spoken form; null where the text is to stay. */
  readonly say: (found: Found) => string | null;
}

export interface ClockTime {
  readonly hour: number;
  readonly minute: number;
  readonly half?: 'am' | 'pm';
}

export interface CalendarDay {
  readonly day: number;
  /** 1 to 12. */
  readonly month: number;
  readonly year?: number;
}

export interface LanguagePack {
  /** Which of `1.234,5` and `1,234.5` is meant. */
  readonly decimalMark: '.' | ',';
  /** Separators of thousands, as the inside of a character class. */
  readonly groupMarks: string;
  readonly dateOrder: 'mdy' | 'dmy';
  /** 0 to 9, as in a telephone number. */
  readonly digits: readonly string[];
  readonly words: Readonly<
    Record<
      | 'minus'
      | 'point'
      | 'percent'
      | 'and'
      | 'to'
      | 'at'
      | 'dot'
      | 'dash'
      | 'underscore'
      | 'slash'
      | 'plus'
      | 'equals'
      | 'number'
      | 'star'
      | 'hash'
      | 'per',
      string
    >
  >;
  /** Currencies by symbol or ISO code. */
  readonly currencies: Readonly<Record<string, Currency>>;
  /** Text between whole and hundredth of an amount, and whether the hundredth is named. */
  readonly moneyJoin: { readonly text: string; readonly namesCents: boolean };
  /** Magnitudes by written form, such as `million`, or `k`; `of` stands between it and a currency's name. */
  readonly magnitudes: Readonly<Record<string, { readonly say: string; readonly of: string }>>;
  readonly units: Readonly<Record<string, Counted>>;
  readonly fractions: Readonly<Record<string, string>>;
  /** Written form, as a pattern, to words. */
  readonly abbreviations: readonly (readonly [string, string])[];
  /** Upper-case words to be spelt although they have a vowel. */
  readonly spelt: readonly string[];
  /** Names and abbreviations without their point, to names. */
  readonly weekdays: Readonly<Record<string, string>>;
  /** Patterns of what stands before a number that names something and counts nothing: it is read digit by digit. */
  readonly labels: readonly string[];
  /** Pattern of short numbers that are called, such as 112, with what stands before them. */
  readonly dialed: string;
  /** Patterns of words before a Roman numeral that numbers them, such as `Chapter`. */
  readonly numbered: readonly string[];
  /** Patterns of words before a day and a month in figures: `on 3/4`. */
  readonly dateCues: readonly string[];
  /** Words before which `/` means `per`. */
  readonly perWords: readonly string[];
  cardinal(number: number, counted?: { readonly isFeminine: boolean }): string;
  year(year: number): string;
  date(day: CalendarDay, found: Found): string;
  time(time: ClockTime): string;
  /** One group of a telephone number's digits. */
  digitGroup(digits: string): string;
  /** The language's own rules: dates with months in words, ordinals, times of day. */
  readonly rules: readonly Rule[];
}
