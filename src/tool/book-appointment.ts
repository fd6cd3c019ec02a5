/** Tool `book_appointment` and the port of the calendar. */

import { localInstant, type Schedule, writtenIn } from '../domain/calendar/calendar.ts';
import type { Appointment } from '../domain/call/call.ts';
import type { Tool, ToolArguments, ToolContext, ToolOutcome } from './tool.ts';

/** Dependencies of `book_appointment` for one call. */
export interface BookingRules {
  readonly calendar: Calendar;
  /** The caller's number from signalling, never from the caller's words. */
  readonly attendeePhone: string;
  /** Times are local ones of it; instants with a zone without one. */
  readonly schedule?: Schedule;
}

const DURATION_MINUTES_DEFAULT = 30;

const DURATION_MINUTES_MAX = 24 * 60;

/** ISO 8601 with seconds or without; a zone is required, since the model and the calendar may be in different ones. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

const INSTANT_DESCRIPTION = 'Begin in ISO 8601 with a time zone, such as 2026-03-01T10:00:00Z.';

/** Makes the tool for one call. */
export function createBookAppointment(rules: BookingRules): Tool {
  const { schedule } = rules;
  return {
    isAfterWords: false,
    needsSureWords: true,
    lateText:
      'It is not known yet whether the appointment was booked. Say so, and that it will be confirmed later.',
    description: {
      name: 'book_appointment',
      description:
        'Books an appointment in the calendar. Use it only when the caller has agreed to the day and the time, ' +
        `and has said their name.${schedule === undefined ? '' : ` ${schedule.description}`}`,
      parameters: parametersOf(schedule),
    },
    run: (args, context, signal) => book(args, { rules, context, signal }),
  };
}

function parametersOf(schedule: Schedule | undefined) {
  const minutes = schedule?.slotMinutes ?? DURATION_MINUTES_DEFAULT;
  return {
    type: 'object',
    properties: {
      title: { type: 'string', description: 'What it is for, in a few words.', maxLength: 200 },
      startTime: {
        type: 'string',
        description: schedule?.startDescription ?? INSTANT_DESCRIPTION,
        maxLength: 40,
      },
      durationMinutes: {
        type: 'integer',
        description: `Length; ${minutes} unless the caller wants another.`,
      },
      attendeeName: { type: 'string', description: "The caller's name.", maxLength: 120 },
    },
    required: ['title', 'startTime', 'attendeeName'],
    additionalProperties: false,
  };
}

async function book(
  args: ToolArguments,
  given: {
    readonly rules: BookingRules;
    readonly context: ToolContext;
    readonly signal: AbortSignal;
  },
): Promise<ToolOutcome> {
  const { rules, context, signal } = given;
  const { schedule } = rules;
  const minutes = Number(args.durationMinutes ?? schedule?.slotMinutes ?? DURATION_MINUTES_DEFAULT);
  const startTime = startOf(String(args.startTime), schedule);
  if (typeof startTime === 'string') return notBooked(startTime);
  const fault = lengthFault(minutes, schedule);
  if (fault !== undefined) return notBooked(fault);
  const request = {
    title: String(args.title),
    startTime,
    endTime: new Date(startTime.getTime() + minutes * 60_000),
    attendeeName: String(args.attendeeName),
    attendeePhone: rules.attendeePhone,
  };
  try {
    const { isOnRecord = false, ...booking } = await rules.calendar.book(request, signal);
    if (!isOnRecord) context.appointmentBooked({ ...request, ...booking });
    const state = booking.confirmed ? 'is booked' : 'is noted, and has yet to be confirmed';
    const time = schedule === undefined ? startTime.toISOString() : writtenIn(schedule, startTime);
    return { text: `The appointment ${state}: ${time}, ${minutes} minutes.`, isDone: true };
  } catch (error) {
    if (error instanceof CalendarError) return notBooked(error.message);
    throw error;
  }
}

/** The instant, or why there is none. */
function startOf(text: string, schedule: Schedule | undefined): Date | string {
  if (schedule !== undefined) return localInstant(text, schedule);
  const instant = new Date(text);
  const isInstant = INSTANT.test(text) && !Number.isNaN(instant.getTime());
  return isInstant ? instant : 'the start time is not an ISO 8601 date and time with a time zone';
}

function lengthFault(minutes: number, schedule: Schedule | undefined): string | undefined {
  if (minutes < 1 || minutes > DURATION_MINUTES_MAX) {
    return `the duration must be from 1 to ${DURATION_MINUTES_MAX} minutes`;
  }
  const isWhole = schedule === undefined || minutes % schedule.slotMinutes === 0;
  return isWhole ? undefined : `the duration must be a multiple of ${schedule.slotMinutes} minutes`;
}

function notBooked(reason: string): ToolOutcome {
  return { text: `The appointment was not booked: ${reason}. Do not say that it was.` };
}

/** An appointment as the agent asks for it. */
export type AppointmentRequest = Omit<Appointment, 'id' | 'calendarId' | 'confirmed'>;

/** Answer of the calendar to an appointment that it has taken; not `confirmed` where a person has yet to agree. */
export interface Booking extends Pick<Appointment, 'calendarId' | 'confirmed'> {
  /** Whether the calendar has put it on record together with its event; not unless given. */
  readonly isOnRecord?: boolean;
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
