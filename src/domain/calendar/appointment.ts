/** Appointments in calendars, as they are kept here, the contract of their store, and the port of calendar servers. */
import type { Environment } from '../account/account.ts';
import type { Appointment } from '../call/call.ts';
import type { Page, PageRange } from '../ids.ts';
import type { Calendar } from './calendar.ts';
import type { TimeSpan } from './slots.ts';

/**
 * `pending`: its time is held while the calendar server is asked. `confirmed`: it is in the calendar. `open`: it was noted
 * for the caller, and is not in the calendar. `cancelled`: it is off.
 */
type AppointmentStatus = 'pending' | 'confirmed' | 'open' | 'cancelled';

/** Why an appointment is open: the server is tried again, or a person has to find another time. */
export type OpenReason = 'unreachable' | 'taken';

/** An appointment of a calendar. */
export interface BookedAppointment {
  /** `appt_…`; also the UID of its event on a CalDAV server, so that a repeated request finds its own event. */
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  /** Name of the calendar. */
  readonly calendar: string;
  readonly callId: string;
  readonly agentId: string;
  readonly title: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly attendeePhone: string;
  readonly attendeeName: string;
  readonly status: AppointmentStatus;
  /** Reason of an open appointment; else null. */
  readonly reason: OpenReason | null;
  /** Whether no change is left to send to the calendar server. */
  readonly isSynced: boolean;
  /** Its time before a change that the server has not confirmed; both are held meanwhile. */
  readonly previousStartsAt: Date | null;
  readonly previousEndsAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Fields that identify a calendar. */
export type CalendarKey = Pick<Calendar, 'accountId' | 'environment' | 'name'>;

/** Keeps appointments. Slots are decided in a transaction that reads `holding` and writes. */
export interface AppointmentStore {
  insert(appointment: BookedAppointment): Promise<void>;

  /** Saves every field. */
  update(appointment: BookedAppointment): Promise<void>;

  find(id: string): Promise<BookedAppointment | undefined>;

  /** Appointments that hold a time within the span: neither cancelled nor given up. */
  holding(calendar: CalendarKey, span: TimeSpan): Promise<readonly BookedAppointment[]>;

  /** Appointments of a number that are still to come, earliest first; the cancelled ones are not among them. */
  upcomingOf(
    calendar: CalendarKey,
    phone: string,
    now: Date,
  ): Promise<readonly BookedAppointment[]>;

  /** Appointments made by a call, cancelled ones too. */
  ofCall(callId: string): Promise<readonly BookedAppointment[]>;

  /** Lists appointments by start, from an instant on. */
  list(
    calendar: CalendarKey,
    query: PageRange & { readonly from: Date },
  ): Promise<Page<BookedAppointment>>;

  /**
   * Appointments still to come whose newest state is not on the calendar server, the least recently tried first.
   *
   * @param before Only those that were last written before it: younger ones may be in progress.
   */
  unsynced(query: {
    readonly now: Date;
    readonly before: Date;
    readonly limit: number;
  }): Promise<readonly BookedAppointment[]>;
}

/** Appointments that one call may make. */
export const APPOINTMENTS_PER_CALL_MAX = 3;

/** Appointments to come that one number may have in a calendar. */
export const APPOINTMENTS_PER_NUMBER_MAX = 5;

/** Whether a caller's number identifies a caller: a withheld one is `anonymous` or the like. */
export function isKnownNumber(phone: string): boolean {
  return /^\+?\d{3,15}$/.test(phone);
}

/** An appointment in the form of events. */
export function reported(appointment: BookedAppointment): Appointment {
  const { id, title, startsAt, endsAt, attendeePhone, attendeeName, calendar, status } =
    appointment;
  return {
    ...{ id, title, startTime: startsAt, endTime: endsAt, attendeePhone, attendeeName },
    calendarId: calendar,
    confirmed: status === 'confirmed',
  };
}

/** Times that it holds: its own, and during a change also the one before. */
export function heldSpans(appointment: BookedAppointment): readonly TimeSpan[] {
  const { startsAt, endsAt, previousStartsAt, previousEndsAt } = appointment;
  const own = { start: startsAt, end: endsAt };
  if (previousStartsAt === null || previousEndsAt === null) return [own];
  return [own, { start: previousStartsAt, end: previousEndsAt }];
}

/** Longest name that is compared, in words. */
const NAME_WORDS_MAX = 8;

/**
 * Whether a name that was heard may be the one that an appointment is kept under: a word of four letters and more agrees but
 * for one letter, or a shorter one altogether. Who calls is known by the number; the name guards against a number that several
 * people share.
 */
export function isSameName(heard: string, kept: string): boolean {
  const keptWords = wordsOf(kept);
  return wordsOf(heard).some((word) => keptWords.some((other) => isSameWord(word, other)));
}

function wordsOf(name: string): readonly string[] {
  const folded = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return folded
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)
    .slice(0, NAME_WORDS_MAX);
}

function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  if (Math.min(a.length, b.length) < 4) return false;
  let from = 0;
  while (from < Math.min(a.length, b.length) && a[from] === b[from]) from += 1;
  // One letter more, less, or another.
  const rests = [
    [a.slice(from + 1), b.slice(from + 1)],
    [a.slice(from + 1), b.slice(from)],
    [a.slice(from), b.slice(from + 1)],
  ];
  return rests.some(([one, other]) => one === other);
}

/** A request to the server failed: no connection, no answer in time, a refusal. No secret is in the message. */
export class CalendarServerError extends Error {
  override readonly name = 'CalendarServerError';
}

/** One calendar on its server. Every method is idempotent. */
export interface CalendarServer {
  /**
   * Busy times within the span.
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
