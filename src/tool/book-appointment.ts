/** Tool `book_appointment` and the port of the calendar. */
import type { Appointment } from '../domain/call/call.ts';
import type { Tool, ToolArguments, ToolContext, ToolOutcome } from './tool.ts';

/** What the tool of one call needs. */
export interface BookingRules {
  readonly calendar: Calendar;
  /** The caller's number from signalling, never from the caller's words. */
  readonly attendeePhone: string;
}

const DURATION_MINUTES_DEFAULT = 30;

const DURATION_MINUTES_MAX = 24 * 60;

/** ISO 8601 with seconds or without; a zone is required, since the model and the calendar may be in different ones. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

const PARAMETERS = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'What it is for, in a few words.', maxLength: 200 },
    startTime: {
      type: 'string',
      description: 'Begin in ISO 8601 with a time zone, such as 2026-03-01T10:00:00Z.',
      maxLength: 40,
    },
    durationMinutes: {
      type: 'integer',
      description: `Length; ${DURATION_MINUTES_DEFAULT} unless the caller wants another.`,
    },
    attendeeName: { type: 'string', description: "The caller's name.", maxLength: 120 },
  },
  required: ['title', 'startTime', 'attendeeName'],
  additionalProperties: false,
} as const;

/** Makes the tool for one call. */
export function createBookAppointment(rules: BookingRules): Tool {
  return {
    isAfterWords: false,
    needsSureWords: true,
    description: {
      name: 'book_appointment',
      description:
        'Books an appointment in the calendar. Use it only when the caller has agreed to the day and the time, ' +
        'and has said their name.',
      parameters: PARAMETERS,
    },
    run: (args, context, signal) => book(args, { rules, context, signal }),
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
  const minutes = Number(args.durationMinutes ?? DURATION_MINUTES_DEFAULT);
  const startTime = instantOf(String(args.startTime));
  if (startTime === undefined) {
    return notBooked('the start time is not an ISO 8601 date and time with a time zone');
  }
  if (minutes < 1 || minutes > DURATION_MINUTES_MAX) {
    return notBooked(`the duration must be from 1 to ${DURATION_MINUTES_MAX} minutes`);
  }
  const request = {
    title: String(args.title),
    startTime,
    endTime: new Date(startTime.getTime() + minutes * 60_000),
    attendeeName: String(args.attendeeName),
    attendeePhone: rules.attendeePhone,
  };
  try {
    const booking = await rules.calendar.book(request, signal);
    context.appointmentBooked({ ...request, ...booking });
    const state = booking.confirmed ? 'is booked' : 'is noted, and has yet to be confirmed';
    return { text: `The appointment ${state}: ${startTime.toISOString()}, ${minutes} minutes.` };
  } catch (error) {
    if (error instanceof CalendarError) return notBooked(error.message);
    throw error;
  }
}

/** Undefined where the text is no instant that exists. */
function instantOf(text: string): Date | undefined {
  const instant = new Date(text);
  return INSTANT.test(text) && !Number.isNaN(instant.getTime()) ? instant : undefined;
}

function notBooked(reason: string): ToolOutcome {
  return { text: `The appointment was not booked: ${reason}. Do not say that it was.` };
}

export type AppointmentRequest = Omit<Appointment, 'id' | 'calendarId' | 'confirmed'>;

/** What the calendar says of an appointment that it has taken; not `confirmed` where a person has yet to agree. */
export type Booking = Pick<Appointment, 'calendarId' | 'confirmed'>;

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
