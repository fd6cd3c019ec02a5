/** A calendar as its form holds it and the API takes it, and its appointments by day; pure */
import type { Appointment, Calendar } from './api-types.ts';
import { changedFields } from './forms/form-changes.ts';

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;

/** Open hours of a weekday, as `HH:MM`; a day may have several. */
export interface HoursRow {
  readonly day: string;
  readonly from: string;
  readonly to: string;
}

export const NEW_HOURS: HoursRow = { day: 'monday', from: '09:00', to: '17:00' };

/** Values of the calendar form, each as the text of its input. */
export type CalendarDraft = Readonly<ReturnType<typeof newCalendar>>;

export function newCalendar(timeZone: string) {
  const hours: readonly HoursRow[] = WEEKDAYS.slice(0, 5).map((day) => ({ ...NEW_HOURS, day }));
  return {
    name: '',
    kind: 'builtin',
    timeZone,
    hours,
    slotMinutes: '30',
    bufferMinutes: '0',
    minNoticeMinutes: '60',
    maxDaysAhead: '60',
    url: '',
    username: '',
    /** Empty for the stored one. */
    password: '',
  };
}

export function draftOf(calendar: Calendar): CalendarDraft {
  const { workingHours } = calendar;
  return {
    name: calendar.name,
    kind: calendar.kind,
    timeZone: calendar.timeZone,
    hours: WEEKDAYS.flatMap((day) => (workingHours[day] ?? []).map((open) => ({ day, ...open }))),
    slotMinutes: String(calendar.slotMinutes),
    bufferMinutes: String(calendar.bufferMinutes),
    minNoticeMinutes: String(calendar.minNoticeMinutes),
    maxDaysAhead: String(calendar.maxDaysAhead),
    url: calendar.url ?? '',
    username: calendar.username ?? '',
    password: '',
  };
}

/** Body of the request that creates a calendar. */
export function bodyOf(draft: CalendarDraft): Readonly<Record<string, unknown>> {
  const { name, kind, timeZone, password } = draft;
  const server = { url: draft.url.trim(), username: draft.username.trim() };
  return {
    ...{ name, kind, timeZone },
    workingHours: workingHoursOf(draft.hours),
    slotMinutes: Number(draft.slotMinutes),
    bufferMinutes: Number(draft.bufferMinutes),
    minNoticeMinutes: Number(draft.minNoticeMinutes),
    maxDaysAhead: Number(draft.maxDaysAhead),
    ...(kind === 'caldav' && { ...server, ...(password !== '' && { password }) }),
  };
}

/** Body of the request that changes a calendar: only the fields changed since the form began. */
export function changesOf(
  draft: CalendarDraft,
  begun: CalendarDraft,
): Readonly<Record<string, unknown>> {
  return changedFields(bodyOf(draft), bodyOf(begun));
}

/** Hours by weekday, in the order of the day; days without hours are closed. */
function workingHoursOf(rows: readonly HoursRow[]) {
  const days = WEEKDAYS.flatMap((day) => {
    const open = rows
      .filter((row) => row.day === day)
      .map(({ from, to }) => ({ from, to }))
      .sort((one, other) => one.from.localeCompare(other.from));
    return open.length === 0 ? [] : [[day, open] as const];
  });
  return Object.fromEntries(days);
}

type Times = Pick<Appointment, 'startTime' | 'endTime'>;

export interface AppointmentDay<One> {
  /** In words of the language, such as `Monday, 30 November 2026`. */
  readonly day: string;
  readonly appointments: readonly One[];
}

/** @param appointments by their begin, as the API lists them. */
export function daysOf<One extends Times>(
  appointments: readonly One[],
  zone: { readonly timeZone: string; readonly language: string },
): readonly AppointmentDay<One>[] {
  const format = new Intl.DateTimeFormat(zone.language, {
    dateStyle: 'full',
    timeZone: zone.timeZone,
  });
  const days = Map.groupBy(appointments, ({ startTime }) => format.format(new Date(startTime)));
  return [...days].map(([day, those]) => ({ day, appointments: those }));
}

/** `9:00 AM – 9:30 AM` as the language writes it. */
export function hoursText(
  { startTime, endTime }: Times,
  zone: { readonly timeZone: string; readonly language: string },
): string {
  const format = new Intl.DateTimeFormat(zone.language, {
    timeStyle: 'short',
    timeZone: zone.timeZone,
  });
  return `${format.format(new Date(startTime))} – ${format.format(new Date(endTime))}`;
}

/** The day of an instant where the reader is, YYYY-MM-DD. */
export function localDay(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
