/** Port of a calendar server that has appointments besides our own list. */
import type { BookedAppointment } from '../../domain/calendar/appointment.ts';
import type { Calendar } from '../../domain/calendar/calendar.ts';
import type { TimeSpan } from '../../domain/calendar/slots.ts';

/** The server did not do what it was asked: no connection, no answer in time, a refusal. No secret is in the message. */
export class CalendarServerError extends Error {
  override readonly name = 'CalendarServerError';
}

/** One calendar on its server. Every method may be repeated: it makes the server what it is to be. */
export interface CalendarServer {
  /**
   * Times that are taken within the span.
   *
   * @param exceptId the appointment whose own event does not count.
   * @throws {CalendarServerError}
   */
  busy(span: TimeSpan, exceptId: string, signal: AbortSignal): Promise<readonly TimeSpan[]>;

  /** Makes or moves the event of an appointment. @throws {CalendarServerError} */
  put(appointment: BookedAppointment, signal: AbortSignal): Promise<void>;

  /** Removes the event of an appointment, where there is one. @throws {CalendarServerError} */
  remove(appointment: BookedAppointment, signal: AbortSignal): Promise<void>;
}

/** Gives the server of a calendar; undefined for a built-in one. */
export type OpenCalendarServer = (calendar: Calendar) => CalendarServer | undefined;
