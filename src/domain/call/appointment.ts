/** An appointment that an agent made during a call. */

/** @see the interface specification, "Appointment" */
export interface Appointment {
  /** `appt_…`. */
  readonly id: string;
  readonly title: string;
  readonly startTime: Date;
  readonly endTime: Date;
  readonly attendeePhone: string;
  readonly attendeeName: string;
  readonly calendarId: string;
  readonly confirmed: boolean;
}
