/** The stretch of time that local days of a zone are, in quarter hours of UTC; pure */
import { instantOf, localTimeOf, offsetMsAt } from '../zoned-time.ts';
import { dayCount, type Period } from './period.ts';

/** Every offset that clocks have is a multiple of it. */
export const QUARTER_HOUR_MS = 900_000;

const DAY_MS = 86_400_000;

const QUARTER_HOURS_A_DAY = DAY_MS / QUARTER_HOUR_MS;

/** Clocks do not change twice within it. */
const STEP_MS = 7 * DAY_MS;

/** In quarter hours: since 1970, and of local time less UTC. */
export interface ZonedSpan {
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly before: number;
  /** Offsets in order; each is valid from its quarter hour on. The first is that of the beginning. */
  readonly offsets: readonly { readonly from: number; readonly offset: number }[];
}

/** The date that clocks of the zone show, as midnight UTC of that date: what `periodOf` takes. */
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
 * As many days right before the period. While the period is not over, as much of them as has passed of it, so that half a
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

/** The first quarter hour after `low` whose offset is that of `high`. */
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
