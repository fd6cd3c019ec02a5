/** Calling hours: when people may be rung, in the time zone of the called number; pure */
import {
  dayAfter,
  instantOf,
  instantsOf,
  type LocalTime,
  localTimeOf,
  weekdayOf,
} from '../zoned-time.ts';
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

/** A week to the only open day, and another where clocks skip its hours. */
const DAYS_MAX = 14;

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
export function isWithinHours(
  { days, from, until }: CallingHours,
  zone: string,
  at: Date,
): boolean {
  const local = localTimeOf(at, zone);
  const minute = local.hour * 60 + local.minute;
  const weekday = weekdayOf(local);
  const isOpenDay = days.some((day) => weekday.startsWith(day));
  return isOpenDay && minute >= minutesOfDay(from) && minute < minutesOfDay(until);
}

/** The first instant from `at` on at which numbers of the country may be rung. */
export function nextOpening(country: string | undefined, hours: CallingHours, at: Date): Date {
  const zone = timeZoneFor(country, hours, at);
  if (isWithinHours(hours, zone, at)) return at;
  const today = localTimeOf(at, zone);
  for (let days = 0; days <= DAYS_MAX; days += 1) {
    const opening = openingsOf(dayAfter(today, days), hours, zone).find(
      (instant) => instant > at && isWithinHours(hours, zone, instant),
    );
    if (opening !== undefined) return opening;
  }
  return at;
}

/** Instants at which the hours begin on a day: two where clocks go back over it. */
function openingsOf(day: LocalTime, { from }: CallingHours, zone: string): readonly Date[] {
  const begins = { ...day, minute: minutesOfDay(from) };
  const instants = instantsOf(begins, zone);
  return instants.length > 0 ? instants : [instantOf(begins, zone)];
}

/** Time zones by country: ICU takes half a millisecond to look them up. */
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
