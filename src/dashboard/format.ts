/** Dates, numbers and durations as the chosen language writes them; pure */

export interface Formats {
  readonly instant: (iso: string) => string;
  readonly time: (iso: string) => string;
  readonly day: (date: string) => string;
  readonly count: (value: number) => string;
  readonly decimal: (value: number) => string;
  readonly percent: (fraction: number) => string;
  readonly language: (tag: string) => string;
}

/** Instants are in the reader's time zone, days (which the API counts in UTC) are not. */
export function formatsOf(language: string): Formats {
  const instant = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
  const day = new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
  const count = new Intl.NumberFormat(language);
  const decimal = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 });
  const languages = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  return {
    instant: (iso) => instant.format(new Date(iso)),
    time: (iso) => time.format(new Date(iso)),
    day: (date) => day.format(new Date(`${date}T00:00:00.000Z`)),
    count: (value) => count.format(value),
    decimal: (value) => decimal.format(value),
    percent: (fraction) => percent.format(fraction),
    language: (tag) => nameOf(languages, tag),
  };
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

/** UTC days, YYYY-MM-DD, both inclusive; empty while one is being typed. */
export interface DayRange {
  readonly startDate: string;
  readonly endDate: string;
}

/** The last so many days, today among them. */
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

const FILTER_FIELDS = ['agentId', 'status', 'direction', 'startDate', 'endDate'] as const;

export type FilterField = (typeof FILTER_FIELDS)[number];

export interface CallFilter {
  readonly fields: Readonly<Partial<Record<FilterField, string>>>;
  readonly offset: number;
}

export function filterOf(query: URLSearchParams): CallFilter {
  const given = FILTER_FIELDS.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value]];
  });
  const offset = query.get('offset') ?? '';
  return {
    fields: Object.fromEntries(given),
    offset: /^\d{1,9}$/.test(offset) ? Number(offset) : 0,
  };
}

/** The address of the calls so filtered. */
export function addressOf({ fields, offset }: CallFilter): string {
  const query = new URLSearchParams();
  for (const name of FILTER_FIELDS) {
    const value = fields[name];
    if (value !== undefined && value !== '') query.set(name, value);
  }
  if (offset > 0) query.set('offset', String(offset));
  return query.size === 0 ? '#/calls' : `#/calls?${query}`;
}
