/** Local times of IANA time zones: converts instants to wall-clock times and back; pure */
import { DAY_MS, MINUTE_MS } from '../lib/clock.ts';

/** Local date and time. `month` counts from 1; an hour of 24 is the next day's midnight. */
export interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

/** Monday first, as ISO 8601 counts them. */
export const WEEKDAYS = [
  ...(['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const),
  ...(['saturday', 'sunday'] as const),
] as const;

/** One of `WEEKDAYS`. */
export type Weekday = (typeof WEEKDAYS)[number];

/** Whether the runtime knows a zone of this name, such as `Europe/Rome`. */
export function isTimeZone(name: string): boolean {
  // Offsets such as +01:00 are zones for Intl, but have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    // An unknown zone is a RangeError, and that is the answer.
    return false;
  }
}

/** The local time of an instant, seconds cut off. */
export function localTimeOf(instant: Date, timeZone: string): LocalTime {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = formatOf(timeZone)
    .format(instant)
    .split(/\D+/)
    .map(Number);
  return { year, month, day, hour, minute };
}

/**
 * The instants at which clocks of the zone show a local time, earliest first: none in the gap where clocks go forward, two
 * where they go back.
 */
export function instantsOf(local: LocalTime, timeZone: string): readonly Date[] {
  const asUtcMs = utcMsOf(local);
  const offsets = new Set([
    offsetMsAt(asUtcMs - DAY_MS, timeZone),
    offsetMsAt(asUtcMs + DAY_MS, timeZone),
  ]);
  return [...offsets]
    .filter((offsetMs) => offsetMsAt(asUtcMs - offsetMs, timeZone) === offsetMs)
    .map((offsetMs) => new Date(asUtcMs - offsetMs))
    .sort((a, b) => a.getTime() - b.getTime());
}

/**
 * The one instant of a local time: the earlier of two; in a gap the instant by the offset before it.
 *
 * @see RFC 5545, section 3.3.5
 */
export function instantOf(local: LocalTime, timeZone: string): Date {
  const [first] = instantsOf(local, timeZone);
  const asUtcMs = utcMsOf(local);
  return first ?? new Date(asUtcMs - offsetMsAt(asUtcMs - DAY_MS, timeZone));
}

/** The day `days` later, at midnight. */
export function dayAfter({ year, month, day }: LocalTime, days: number): LocalTime {
  const date = new Date(Date.UTC(year, month - 1, day + days));
  return {
    ...{ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() },
    ...{ hour: 0, minute: 0 },
  };
}

/** The weekday of a local date. */
export function weekdayOf({ year, month, day }: LocalTime): Weekday {
  const fromSunday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return WEEKDAYS[(fromSunday + 6) % 7] ?? 'monday';
}

/** Writes an instant in local time, such as `Tuesday 2026-12-01 10:00`. */
export function writtenLocally(instant: Date, timeZone: string): string {
  const local = localTimeOf(instant, timeZone);
  const weekday = weekdayOf(local);
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${local.year}-${two(local.month)}-${two(local.day)}`;
  return `${weekday[0]?.toUpperCase()}${weekday.slice(1)} ${date} ${two(local.hour)}:${two(local.minute)}`;
}

function utcMsOf({ year, month, day, hour, minute }: LocalTime): number {
  return Date.UTC(year, month - 1, day, hour, minute);
}

/** Local time less UTC at an instant, in milliseconds. */
export function offsetMsAt(instantMs: number, timeZone: string): number {
  const minuteMs = Math.floor(instantMs / MINUTE_MS) * MINUTE_MS;
  return utcMsOf(localTimeOf(new Date(minuteMs), timeZone)) - minuteMs;
}

/** Formats by zone; making one takes a hundred times as long as using it. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** There are some six hundred zones; names in other cases make more. */
const FORMATS_MAX = 1000;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    ...({ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit' } as const),
    ...({ day: '2-digit', hour: '2-digit', minute: '2-digit' } as const),
  });
  if (FORMATS.size >= FORMATS_MAX) FORMATS.clear();
  FORMATS.set(timeZone, format);
  return format;
}
