/** Calling hours: when people may be rung, in the time zone of the called number; pure */
import { localTimeOf, weekdayOf } from '../zoned-time.ts';
import { phoneLibrary } from './phone-library.ts';

/** Days of the week, as `CallingHours.days` has them. */
export const OPEN_DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** The hours in which an account's outbound calls may be dialled. */
export interface CallingHours {
  /** At least one. */
  readonly days: readonly (typeof OPEN_DAYS)[number][];
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

/** Minutes after midnight of `HH:MM`. */
export function minutesOfDay(text: string): number {
  const [hours, minutes] = text.split(':').map(Number);
  return (hours ?? 0) * 60 + (minutes ?? 0);
}

/** ISO 3166 code of a number's country; undefined where the number does not determine one. */
export function countryOf(number: string): string | undefined {
  return phoneLibrary().parsePhoneNumberFromString(number)?.country;
}

/**
 * Time zone in which the hours apply to numbers of a country: that of the country where all of its zones have the same time
 * at that instant, else the account's.
 */
export function timeZoneFor(country: string | undefined, hours: CallingHours, at: Date): string {
  const [zone, ...others] = country === undefined ? [] : zonesOf(country);
  if (zone === undefined) return hours.timeZone;
  const timeIn = (name: string) => Object.values(localTimeOf(at, name)).join();
  const time = timeIn(zone);
  return others.every((other) => timeIn(other) === time) ? zone : hours.timeZone;
}

/** Whether people in a time zone may be rung at that instant. */
export function isWithinHours(hours: CallingHours, zone: string, at: Date): boolean {
  return minutesToOpening(hours, zone, at) === 0;
}

/** The first instant from `at` on at which numbers of the country may be rung. */
export function nextOpening(country: string | undefined, hours: CallingHours, at: Date): Date {
  const zone = timeZoneFor(country, hours, at);
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
  const local = localTimeOf(at, zone);
  const minute = local.hour * 60 + local.minute;
  const weekday = weekdayOf(local);
  if (!days.some((day) => weekday.startsWith(day)) || minute >= minutesOfDay(until)) {
    return DAY_MINUTES - minute;
  }
  return Math.max(0, minutesOfDay(from) - minute);
}

/** By country: ICU takes half a millisecond to look them up. */
const ZONES = new Map<string, readonly string[]>();

/** Time zones of a country in the ICU tables of Node; some countries of libphonenumber have none there. */
function zonesOf(country: string): readonly string[] {
  const known = ZONES.get(country);
  if (known !== undefined) return known;
  // TypeScript's library does not have the method yet.
  const locale: Intl.Locale & { getTimeZones?: () => readonly string[] | undefined } =
    new Intl.Locale(`und-${country}`);
  const zones = locale.getTimeZones?.() ?? [];
  ZONES.set(country, zones);
  return zones;
}
