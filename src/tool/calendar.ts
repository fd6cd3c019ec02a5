/** The port to the calendar that appointments go into. */

export interface AppointmentRequest {
  readonly title: string;
  readonly startTime: Date;
  readonly endTime: Date;
  readonly attendeeName: string;
  /** E.164 where the caller's number is known, else as it came. */
  readonly attendeePhone: string;
}

/** What the calendar says of an appointment that it has taken. */
export interface Booking {
  readonly calendarId: string;
  /** False where a person has yet to agree. */
  readonly confirmed: boolean;
}

/** The calendar did not take an appointment. The message is for the model and the caller: no address, no secret. */
export class CalendarError extends Error {
  override readonly name = 'CalendarError';
}

export interface Calendar {
  /**
   * Puts an appointment into the calendar.
   *
   * @throws {CalendarError} when the time is taken, or the calendar does not answer.
   */
  book(request: AppointmentRequest, signal: AbortSignal): Promise<Booking>;
}
