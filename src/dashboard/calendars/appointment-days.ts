/** Appointments of a calendar, day by day in its own time zone; pure */
import type { Appointment } from '../api-types.ts';

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
