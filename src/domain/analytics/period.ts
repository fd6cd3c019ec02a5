/** Named periods of whole UTC days; pure */

const DAY_MS = 86_400_000;

/** The longest period that may be asked for: a leap year. */
export const PERIOD_DAYS_MAX = 366;

/** Periods relative to today. */
export const NAMED_PERIODS = [
  'today',
  'yesterday',
  'last_7_days',
  'last_30_days',
  'last_90_days',
  'this_month',
  'last_month',
] as const;

/** A period by name, as `period` takes it. */
type NamedPeriod = (typeof NAMED_PERIODS)[number];

/** UTC days, YYYY-MM-DD, both inclusive. */
export interface Period {
  readonly firstDay: string;
  readonly lastDay: string;
}

/** Periods of days and the current month end today. */
export function periodOf(name: NamedPeriod, now: Date): Period {
  switch (name) {
    case 'today':
      return lastDays(1, now);
    case 'yesterday':
      return { firstDay: dayBefore(now, 1), lastDay: dayBefore(now, 1) };
    case 'last_7_days':
      return lastDays(7, now);
    case 'last_30_days':
      return lastDays(30, now);
    case 'last_90_days':
      return lastDays(90, now);
    case 'this_month':
      return { firstDay: monthDay(now, 0, 1), lastDay: dayBefore(now, 0) };
    case 'last_month':
      // Day 0 of a month is the last of the month before.
      return { firstDay: monthDay(now, -1, 1), lastDay: monthDay(now, 0, 0) };
    default:
      return name satisfies never;
  }
}

/** The calendar month, in UTC, that an instant lies in. */
export function monthOf(now: Date): { readonly startsAt: Date; readonly endsAt: Date } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return {
    startsAt: new Date(Date.UTC(year, month)),
    endsAt: new Date(Date.UTC(year, month + 1)),
  };
}

/** How many days the period has; less than 1 when it ends before it begins. */
export function dayCount({ firstDay, lastDay }: Period): number {
  return (Date.parse(lastDay) - Date.parse(firstDay)) / DAY_MS + 1;
}

/** Every day of the period, YYYY-MM-DD, in order. */
export function daysOf(period: Period): readonly string[] {
  const firstMs = Date.parse(period.firstDay);
  return Array.from({ length: dayCount(period) }, (_, index) => dateOf(firstMs + index * DAY_MS));
}

function lastDays(count: number, now: Date): Period {
  return { firstDay: dayBefore(now, count - 1), lastDay: dayBefore(now, 0) };
}

function dayBefore(now: Date, days: number): string {
  return dateOf(now.getTime() - days * DAY_MS);
}

function monthDay(now: Date, months: number, day: number): string {
  return dateOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, day));
}

function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
