/** Dates, numbers, durations, phone numbers and lists as the chosen language or people write them; pure */
import { queryText } from './api-client.ts';

/** Instants are in the reader's time zone, days (which the API counts in UTC) are not. */
export function formatsOf(language: string) {
  const number = (options: Intl.NumberFormatOptions = {}) => {
    const { format } = new Intl.NumberFormat(language, options);
    return (value: number) => format(value);
  };
  const date = (options: Intl.DateTimeFormatOptions) => {
    const { format } = new Intl.DateTimeFormat(language, options);
    return (iso: string) => format(new Date(iso));
  };
  const whole = { maximumFractionDigits: 0 } as const;
  const count = number();
  const second = { style: 'unit', unit: 'second', unitDisplay: 'narrow' } as const;
  const seconds = number({ ...second, maximumFractionDigits: 2 });
  const points = number({ ...whole, signDisplay: 'exceptZero' });
  const day = date({ day: 'numeric', month: 'short', timeZone: 'UTC' });
  const dayTime = date({ dateStyle: 'medium', timeStyle: 'short' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  const languages = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  return {
    instant: date({ dateStyle: 'medium', timeStyle: 'medium' }),
    ago: (iso: string, nowMs: number) => {
      const minutes = Math.round((Date.parse(iso) - nowMs) / 60_000);
      if (Math.abs(minutes) < 60) return relative.format(minutes, 'minute');
      const hours = Math.round(minutes / 60);
      return Math.abs(hours) < 24 ? relative.format(hours, 'hour') : dayTime(iso);
    },
    /** To the minute. */
    dayTime,
    time: date({ timeStyle: 'medium' }),
    /** @param utcDay YYYY-MM-DD. */
    day: (utcDay: string) => day(`${utcDay}T00:00:00.000Z`),
    count,
    decimal: number({ maximumFractionDigits: 1 }),
    /** Takes a fraction. */
    percent: number({ ...whole, style: 'percent' }),
    /** Whole milliseconds. */
    ms: (value: number) => `${count(Math.round(value))} ms`,
    seconds: (ms: number) => seconds(ms / 1000),
    /** To the last decimal. */
    money: (sum: Money) => moneyText(language, sum, AMOUNT_DECIMALS_MAX),
    /** In the currency's own decimals; less than one of it to the last decimal. */
    roundMoney: (sum: Money) =>
      moneyText(language, sum, Number(sum.amount) < 1 ? AMOUNT_DECIMALS_MAX : undefined),
    /** Takes a fraction; shows its sign. */
    change: number({ ...whole, style: 'percent', signDisplay: 'exceptZero' }),
    /** Percentage points, with their sign. */
    points: (fraction: number) => points(fraction * 100),
    size: (bytes: number) => sizeText(language, bytes),
    language: (tag: string) => nameOf(languages, tag),
  };
}

/** An amount as the API has it: decimal text, and a currency of ISO 4217. */
interface Money {
  readonly amount: string;
  readonly currency: string;
}

/** The API shows no more. */
const AMOUNT_DECIMALS_MAX = 6;

/** @param decimalsMax as many as the currency has, where it is undefined. */
function moneyText(language: string, sum: Money, decimalsMax: number | undefined): string {
  const { amount, currency } = sum;
  const decimals = decimalsMax === undefined ? {} : { maximumFractionDigits: decimalsMax };
  const format = new Intl.NumberFormat(language, { style: 'currency', currency, ...decimals });
  return format.format(Number(amount));
}

/** In decimal units, as disks and pages of models have them. */
function sizeText(language: string, bytes: number): string {
  const [unit, factor] =
    bytes >= 1e9 ? ['gigabyte', 1e9] : bytes >= 1e6 ? ['megabyte', 1e6] : ['kilobyte', 1e3];
  const format = { style: 'unit', unit, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language, format).format(bytes / Number(factor));
}

function nameOf(names: Intl.DisplayNames, tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    // A tag that no rule allows is shown as it is.
    return tag;
  }
}

/** `1:02:03`, `2:03`. @param seconds whole or not. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, '0');
  return hours === 0
    ? `${minutes}:${rest}`
    : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`;
}

const DAY_MS = 86_400_000;

/** IANA name of the browser's time zone. */
export const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();

/** UTC days, YYYY-MM-DD, both inclusive; empty while one is being typed. */
export interface DayRange {
  readonly startDate: string;
  readonly endDate: string;
}

/** A range of days that ends today. */
export function lastDays(count: number, nowMs: number): DayRange {
  return { startDate: dayOf(nowMs - (count - 1) * DAY_MS), endDate: dayOf(nowMs) };
}

/** A half-typed day is asked as the same day twice; without any, the report is the server's usual one. */
export function queryOf(
  period: string,
  { startDate, endDate }: DayRange,
): Readonly<Record<string, string>> {
  if (period !== 'custom') return { period };
  if (startDate === '' && endDate === '') return {};
  return { period, startDate: startDate || endDate, endDate: endDate || startDate };
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

export const CALLS_PER_PAGE = 50;

const FILTER_FIELDS = [
  'q',
  'agentId',
  'status',
  'direction',
  'endReason',
  'sentiment',
  'answeredBy',
  'tag',
  'minDurationSeconds',
  'maxDurationSeconds',
  'startDate',
  'endDate',
] as const;

export type FilterField = (typeof FILTER_FIELDS)[number];

export interface CallFilter {
  readonly fields: Readonly<Partial<Record<FilterField, string>>>;
  readonly offset: number;
  /** Cursor of the page, in the place of `offset`. */
  readonly cursor?: string;
}

export function filterOf(query: URLSearchParams): CallFilter {
  const given = FILTER_FIELDS.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value]];
  });
  const offset = query.get('offset') ?? '';
  const cursor = query.get('cursor') ?? '';
  return {
    fields: Object.fromEntries(given),
    offset: /^\d{1,9}$/.test(offset) ? Number(offset) : 0,
    ...(cursor !== '' && { cursor }),
  };
}

/** The address of the calls so filtered. */
export function addressOf({ fields, offset, cursor }: CallFilter): string {
  return `#/calls${queryText({ ...fields, offset: offset || undefined, cursor })}`;
}

/** Country codes: those listed have one or two digits, all others three. @see ITU-T E.164, list of assigned country codes */
const CODE = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(\d+)$/;

/** `+1 202 555 0123`: the country code, then groups of three. Text that is no E.164 number stays as it is. */
export function phoneText(number: string): string {
  const [, code, rest] = CODE.exec(number) ?? [];
  if (code === undefined || rest === undefined) return number;
  const groups = rest.replace(/\d{3}(?=\d{2})/g, '$& ');
  return `+${code} ${groups}`;
}

/** The entries of a list that was typed, without the spaces around them and without empty ones. */
export function entriesOf(text: string, separator: RegExp | string = /[\s,]+/): readonly string[] {
  return text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
