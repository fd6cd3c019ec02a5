/** iCalendar texts of appointments, and the times that the texts of others take; pure */
// @see RFC 5545
import ICAL from 'ical.js';
import { instantOf, isTimeZone } from '../zoned-time.ts';
import type { BookedAppointment } from './appointment.ts';
import type { TimeSpan } from './slots.ts';

const PRODUCT = '-//Offhook//Appointments//EN';

/** Occurrences of one recurring event that are looked at: every hour of a year. An event with more is unreadable. */
const OCCURRENCES_MAX = 10_000;

/** Limit of a series' shift from one occurrence on, its time zone's offset from UTC included. */
const MOVED_MS_MAX = 7 * 86_400_000;

/** The text of one appointment, for a calendar server. */
export function textOfAppointment(appointment: BookedAppointment): string {
  return calendarOf([appointment]).toString();
}

/** The text of a feed. */
export function textOfFeed(name: string, appointments: readonly BookedAppointment[]): string {
  const calendar = calendarOf(appointments);
  calendar.addPropertyWithValue('x-wr-calname', name);
  return calendar.toString();
}

/**
 * The busy times of an iCalendar text within a span. Transparent and cancelled events do not count; recurring ones are expanded.
 *
 * @param options.timeZone of times without one, and of whole days.
 * @param options.exceptUid the event that does not count.
 * @throws {Error} when the text is no iCalendar, or an event has too many occurrences.
 */
export function busySpansOf(
  text: string,
  span: TimeSpan,
  options: { readonly timeZone: string; readonly exceptUid: string },
): readonly TimeSpan[] {
  const calendar = new ICAL.Component(ICAL.parse(text));
  const events = calendar
    .getAllSubcomponents('vevent')
    .filter((event) => event.getFirstPropertyValue('uid') !== options.exceptUid);
  const masters = events.filter((event) => !event.hasProperty('recurrence-id'));
  const exceptions = events.filter((event) => event.hasProperty('recurrence-id'));
  const reader = { span, timeZone: options.timeZone };
  return [
    // An exception stands for itself: its master may be missing, or the day that it was moved from far away.
    ...exceptions.flatMap((event) => spansOf([event], reader)),
    ...masters.flatMap((master) =>
      spansOf([master, ...exceptions.filter((event) => isSameUid(master, event))], reader),
    ),
  ];
}

/** Moves the event of an appointment, and keeps the rest of the text; undefined where the text has no such event. */
export function movedText(text: string, appointment: BookedAppointment): string | undefined {
  const calendar = new ICAL.Component(ICAL.parse(text));
  const event = calendar
    .getAllSubcomponents('vevent')
    .find((one) => one.getFirstPropertyValue('uid') === uidOf(appointment));
  if (event === undefined) return undefined;
  for (const name of ['dtstart', 'dtend', 'duration', 'status']) event.removeAllProperties(name);
  addTimes(event, appointment);
  const sequence = Number(event.getFirstPropertyValue('sequence') ?? 0);
  event.updatePropertyWithValue('sequence', sequence + 1);
  return calendar.toString();
}

/** UID of an appointment's event, also the name of its file. */
export function uidOf({ id }: Pick<BookedAppointment, 'id'>): string {
  return id;
}

interface Reader {
  readonly span: TimeSpan;
  readonly timeZone: string;
}

function calendarOf(appointments: readonly BookedAppointment[]): ICAL.Component {
  const calendar = new ICAL.Component('vcalendar');
  calendar.addPropertyWithValue('version', '2.0');
  calendar.addPropertyWithValue('prodid', PRODUCT);
  for (const appointment of appointments) calendar.addSubcomponent(eventOf(appointment));
  return calendar;
}

function eventOf(appointment: BookedAppointment): ICAL.Component {
  const { title, attendeeName, attendeePhone, createdAt } = appointment;
  const event = new ICAL.Component('vevent');
  event.addPropertyWithValue('uid', uidOf(appointment));
  event.addPropertyWithValue('dtstamp', ICAL.Time.fromJSDate(createdAt, true));
  addTimes(event, appointment);
  event.addPropertyWithValue('summary', `${title} (${attendeeName})`);
  event.addPropertyWithValue('description', `${attendeeName}, ${attendeePhone}`);
  return event;
}

function addTimes(event: ICAL.Component, { startsAt, endsAt, status }: BookedAppointment): void {
  event.addPropertyWithValue('dtstart', ICAL.Time.fromJSDate(startsAt, true));
  event.addPropertyWithValue('dtend', ICAL.Time.fromJSDate(endsAt, true));
  event.addPropertyWithValue('status', status === 'open' ? 'TENTATIVE' : 'CONFIRMED');
}

function isSameUid(one: ICAL.Component, other: ICAL.Component): boolean {
  return one.getFirstPropertyValue('uid') === other.getFirstPropertyValue('uid');
}

/** @param components the event, and its exceptions after it. */
function spansOf([master, ...exceptions]: readonly ICAL.Component[], reader: Reader): TimeSpan[] {
  if (master === undefined) return [];
  const event = new ICAL.Event(master, { exceptions: [...exceptions] });
  if (event.startDate === null) return [];
  if (!event.isRecurring()) return takenBy(event, event.startDate, event.endDate, reader);
  const spans: TimeSpan[] = [];
  const occurrences = event.iterator();
  const startMsMin = reader.span.start.getTime() - MOVED_MS_MAX - event.duration.toSeconds() * 1000;
  const startMsMax = reader.span.end.getTime() + MOVED_MS_MAX;
  for (let count = 0; count < OCCURRENCES_MAX; count += 1) {
    const next = occurrences.next();
    if (next === undefined || next === null) return spans;
    const startMs = next.toUnixTime() * 1000;
    if (startMs > startMsMax) return spans;
    if (startMs < startMsMin) continue;
    const { item, startDate, endDate } = event.getOccurrenceDetails(next);
    spans.push(...takenBy(item, startDate, endDate, reader));
  }
  throw new Error(`a recurring event has more than ${OCCURRENCES_MAX} occurrences`);
}

function takenBy(
  { component }: ICAL.Event,
  from: ICAL.Time,
  to: ICAL.Time,
  reader: Reader,
): TimeSpan[] {
  const textIn = (name: string) => String(component.getFirstPropertyValue(name)).toUpperCase();
  if (textIn('transp') === 'TRANSPARENT' || textIn('status') === 'CANCELLED') return [];
  const start = dateOf(from, component, reader.timeZone);
  const end = dateOf(to, component, reader.timeZone);
  return end > reader.span.start && start < reader.span.end ? [{ start, end }] : [];
}

/** Converts a time by the runtime's zone of that name if there is one: its rules are newer than the text's own. */
function dateOf(time: ICAL.Time, component: ICAL.Component, timeZone: string): Date {
  const { year, month, day, hour, minute, isDate } = time;
  const local = { year, month, day, hour: isDate ? 0 : hour, minute: isDate ? 0 : minute };
  if (isDate) return instantOf(local, timeZone);
  const tzid = zoneNameOf(time, component);
  if (tzid !== undefined && isTimeZone(tzid)) return instantOf(local, tzid);
  const isFloating = time.zone === ICAL.Timezone.localTimezone;
  return isFloating ? instantOf(local, timeZone) : time.toJSDate();
}

/** A zone that the text does not define is only named at the property. */
function zoneNameOf({ zone }: ICAL.Time, component: ICAL.Component): string | undefined {
  if (zone !== ICAL.Timezone.localTimezone) return zone.tzid;
  const named = component.getFirstProperty('dtstart')?.getParameter('tzid');
  return typeof named === 'string' ? named : undefined;
}
