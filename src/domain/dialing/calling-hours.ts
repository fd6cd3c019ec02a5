/** Calling hours: when people may be rung, in the time zone of the called number; pure */
import { phoneLibrary } from './phone-library.ts';

/** Days of the week, as `CallingHours.days` and Intl name them. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

type Weekday = (typeof WEEKDAYS)[number];

/** The hours in which an account's outbound calls may be dialled. */
export interface CallingHours {
  /** At least one. */
  readonly days: readonly Weekday[];
  /** `HH:MM`, before `until`. */
  readonly from: string;
  /** `HH:MM`, at most `24:00`; this minute is outside. */
  readonly until: string;
  /** IANA name; for called numbers of a country with several time zones. */
  readonly timeZone: string;
}

const MINUTE_MS = 60_000;

const DAY_MINUTES = 1440;

/** A week of closed days, and both edges of a day that is an hour longer or shorter. */
const STEPS_MAX = 20;

/** Whether the text is the name of a time zone. */
export function isTimeZone(text: string): boolean {
  try {
    return clockOf(text) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Minutes after midnight of `HH:MM`. */
export function minutesOfDay(text: string): number {
  const [hours, minutes] = text.split(':').map(Number);
  return (hours ?? 0) * 60 + (minutes ?? 0);
}

/**
 * Time zone in which the hours apply to a called number: that of its country where all of its zones have the same time at
 * that instant, else the account's.
 */
export function timeZoneFor(number: string, hours: CallingHours, at: Date): string {
  const country = phoneLibrary().parsePhoneNumberFromString(number)?.country;
  const [zone, ...others] = country === undefined ? [] : zonesOf(country);
  if (zone === undefined) return hours.timeZone;
  const time = clockOf(zone).format(at);
  return others.every((other) => clockOf(other).format(at) === time) ? zone : hours.timeZone;
}

/** Whether the number may be rung at that instant. */
export function isWithinHours(number: string, hours: CallingHours, at: Date): boolean {
  return minutesToOpening(hours, timeZoneFor(number, hours, at), at) === 0;
}

/** The first instant from `at` on at which the number may be rung. */
export function nextOpening(number: string, hours: CallingHours, at: Date): Date {
  const zone = timeZoneFor(number, hours, at);
  let opening = at;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const minutes = minutesToOpening(hours, zone, opening);
    if (minutes === 0) break;
    opening = new Date((Math.floor(opening.getTime() / MINUTE_MS) + minutes) * MINUTE_MS);
  }
  return opening;
}

/** Minutes until the hours begin, or until the next midnight on a closed day; 0 within them. */
function minutesToOpening({ days, from, until }: CallingHours, zone: string, at: Date): number {
  const parts = clockOf(zone).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const minute = Number(part('hour')) * 60 + Number(part('minute'));
  const day = part('weekday').toLowerCase();
  if (!days.some((open) => open === day) || minute >= minutesOfDay(until)) {
    return DAY_MINUTES - minute;
  }
  return Math.max(0, minutesOfDay(from) - minute);
}

/** Formats by zone: building one takes longer than using it. There are some 600 zones. */
const CLOCKS = new Map<string, Intl.DateTimeFormat>();

/** @throws {RangeError} when there is no such zone. */
function clockOf(zone: string): Intl.DateTimeFormat {
  const known = CLOCKS.get(zone);
  if (known !== undefined) return known;
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  CLOCKS.set(zone, clock);
  return clock;
}

/** Time zones of a country in the ICU tables of Node; some countries of libphonenumber have none there. */
function zonesOf(country: string): readonly string[] {
  // TypeScript's library does not have the method yet.
  const locale: Intl.Locale & { getTimeZones?: () => readonly string[] | undefined } =
    new Intl.Locale(`und-${country}`);
  return locale.getTimeZones?.() ?? [];
}
