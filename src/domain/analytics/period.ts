/** Periods: named ones of whole UTC days, and the stretch that local days of a zone are, in quarter hours of UTC; pure */
import { DAY_MS } from '../../lib/clock.ts';
import { instantOf, localTimeOf, offsetMsAt } from '../zoned-time.ts';

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

/** The UTC day of an instant, YYYY-MM-DD. @param atMs Since 1970. */
export function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Every offset that clocks have is a multiple of it. */
export const QUARTER_HOUR_MS = 900_000;

const QUARTER_HOURS_A_DAY = DAY_MS / QUARTER_HOUR_MS;

/** Clocks do not change twice within it. */
const STEP_MS = 7 * DAY_MS;

/** In quarter hours: since 1970, and of local time less UTC. */
export interface ZonedSpan {
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly before: number;
  /** Offsets in order; each is valid from its quarter hour on. The first is valid from the beginning. */
  readonly offsets: readonly { readonly from: number; readonly offset: number }[];
}

/** The local date in the zone, as midnight UTC of that date; input of `periodOf`. */
export function localDateOf(now: Date, timeZone: string): Date {
  const { year, month, day } = localTimeOf(now, timeZone);
  return new Date(Date.UTC(year, month - 1, day));
}

/** The span of whole local days. */
export function spanOf(period: Period, timeZone: string): ZonedSpan {
  const from = startOf(period.firstDay, 0, timeZone);
  const before = startOf(period.lastDay, 1, timeZone);
  return { from, before, offsets: offsetsOf(from, before, timeZone) };
}

/**
 * The same number of days right before the period. While the period is not over, as much of them as has passed of it, so that half a
 * day is not compared with a whole one.
 */
export function spanBefore(period: Period, timeZone: string, now: Date): ZonedSpan {
  const span = spanOf(period, timeZone);
  const from = startOf(period.firstDay, -dayCount(period), timeZone);
  const passed = Math.ceil(now.getTime() / QUARTER_HOUR_MS) - span.from;
  const isOver = passed >= span.before - span.from;
  const before = isOver ? span.from : Math.min(span.from, from + Math.max(0, passed));
  return { from, before, offsets: offsetsOf(from, before, timeZone) };
}

/** Local days since 1970, and the hour of that day, of a quarter hour in the span. */
export function localOf(
  { offsets }: ZonedSpan,
  quarterHour: number,
): { readonly day: number; readonly hour: number } {
  const offset = offsets.findLast(({ from }) => from <= quarterHour)?.offset ?? 0;
  const local = quarterHour + offset;
  const day = Math.floor(local / QUARTER_HOURS_A_DAY);
  return { day, hour: Math.floor((local - day * QUARTER_HOURS_A_DAY) / 4) };
}

/** Beginning of the local day that comes `days` after a date. */
function startOf(date: string, days: number, timeZone: string): number {
  const midnight = new Date(Date.parse(date) + days * DAY_MS);
  const [year, month, day] = [
    midnight.getUTCFullYear(),
    midnight.getUTCMonth() + 1,
    midnight.getUTCDate(),
  ];
  const instant = instantOf({ year, month, day, hour: 0, minute: 0 }, timeZone);
  return Math.floor(instant.getTime() / QUARTER_HOUR_MS);
}

function offsetsOf(from: number, before: number, timeZone: string): ZonedSpan['offsets'] {
  const offsetAt = (quarterHour: number) =>
    Math.round(offsetMsAt(quarterHour * QUARTER_HOUR_MS, timeZone) / QUARTER_HOUR_MS);
  const step = STEP_MS / QUARTER_HOUR_MS;
  const offsets = [{ from, offset: offsetAt(from) }];
  for (let at = from; at < before; at += step) {
    const offset = offsetAt(at + step);
    if (offset !== offsetAt(at))
      offsets.push({ from: changeBetween(at, at + step, offsetAt), offset });
  }
  return offsets;
}

/** The first quarter hour after `low` with the offset of `high`. */
function changeBetween(low: number, high: number, offsetAt: (at: number) => number): number {
  const after = offsetAt(high);
  let [last, first] = [low, high];
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2);
    if (offsetAt(middle) === after) first = middle;
    else last = middle;
  }
  return first;
}
