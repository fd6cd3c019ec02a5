/** What calendars and appointments look like in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import {
  CALENDAR_KINDS,
  CALENDAR_LIMITS,
  CALENDAR_NAME,
  CLOCK_TIME,
} from '../../domain/calendar/calendar.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import { WEEKDAYS } from '../../domain/zoned-time.ts';
import { words } from './agent-schemas.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './query-schemas.ts';

const LIMITS = CALENDAR_LIMITS;

const whole = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z.int().min(min).max(max);

const name = z
  .string()
  .regex(CALENDAR_NAME, 'expected lower-case letters, digits, _ and -, 63 at most')
  .openapi({
    pattern: CALENDAR_NAME.source,
    description: 'Unique in the environment; agents name it in `calendar`.',
    example: 'front-desk',
  });

const clockTime = z
  .string()
  .regex(CLOCK_TIME, 'expected HH:MM')
  .openapi({ pattern: CLOCK_TIME.source, example: '09:00' });

const openHours = z
  .array(z.strictObject({ from: clockTime, to: clockTime }))
  .max(LIMITS.openHoursMax);

const WORKING_HOURS = Object.fromEntries(
  WEEKDAYS.map((weekday) => [weekday, openHours.optional()]),
) as Record<(typeof WEEKDAYS)[number], z.ZodOptional<typeof openHours>>;

const timeZone = words(LIMITS.timeZoneCharsMax).openapi({
  description: 'IANA name: what callers mean by a time of day.',
  example: 'Europe/Rome',
});

const optional = {
  workingHours: z
    .strictObject(WORKING_HOURS)
    .optional()
    .openapi({
      description:
        'Local times by weekday, in order; a day that is missing is closed. A new calendar has 09:00 to 17:00 from Monday to Friday unless given.',
      example: { monday: [{ from: '09:00', to: '12:30' }] },
    }),
  slotMinutes: whole(LIMITS.slotMinutes).optional().openapi({
    description:
      'Length of an appointment, 30 unless given. They begin at whole slots, counted from the opening.',
  }),
  bufferMinutes: whole(LIMITS.bufferMinutes)
    .optional()
    .openapi({ description: 'Kept free before and after each appointment; 0 unless given.' }),
  minNoticeMinutes: whole(LIMITS.minNoticeMinutes)
    .optional()
    .openapi({ description: 'No appointment begins sooner; 60 unless given.' }),
  maxDaysAhead: whole(LIMITS.maxDaysAhead)
    .optional()
    .openapi({ description: 'No appointment begins later; 60 unless given.' }),
  url: z.string().min(1).max(WEBHOOK_URL_CHARS_MAX).optional().openapi({
    description:
      'Of the CalDAV collection, https; for the kind `caldav` alone, where it is required. The address of its host is checked at every request.',
    example: 'https://cloud.example.com/remote.php/dav/calendars/desk/personal/',
  }),
  username: words(LIMITS.usernameCharsMax)
    .optional()
    .openapi({ description: 'For the kind `caldav`, where it is required.' }),
  password: words(LIMITS.passwordCharsMax).optional().openapi({
    description:
      'An app password, for the kind `caldav`, where it is required. Never shown again; a PATCH that moves `url` to another server must send it.',
  }),
};

/** Body of `POST /api/calendars`. */
export const createCalendarSchema = z
  .strictObject({ name, kind: z.enum(CALENDAR_KINDS), timeZone, ...optional })
  .openapi('CreateCalendar');

/** Body of `PATCH /api/calendars/{calendarName}`. */
export const patchCalendarSchema = z
  .strictObject({ timeZone: timeZone.optional(), ...optional })
  .openapi('PatchCalendar', {
    minProperties: 1,
    description: 'Only the fields that are there change; `workingHours` replaces all of them.',
  });

/** A calendar; its password is never shown. */
export const calendarSchema = z
  .object({
    name: z.string(),
    kind: z.enum(CALENDAR_KINDS),
    timeZone: z.string(),
    workingHours: z.object(WORKING_HOURS),
    slotMinutes: z.int(),
    bufferMinutes: z.int(),
    minNoticeMinutes: z.int(),
    maxDaysAhead: z.int(),
    url: z.string().nullable(),
    username: z.string().nullable(),
    hasPassword: z.boolean(),
    feedUrl: z.string().openapi({
      description:
        'iCalendar feed of the appointments, to subscribe to. Who has the link can read it: keep it secret.',
    }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('Calendar');

/** One page of calendars. */
export const calendarPageSchema = pageOf(calendarSchema).openapi('CalendarPage');

/** Query of the list of calendars. */
export const calendarQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

/** Path of one calendar. */
export const calendarPathSchema = z.object({ calendarName: z.string() });

/** An appointment, with what became of it on the calendar server. */
export const appointmentSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    startTime: z.iso.datetime(),
    endTime: z.iso.datetime(),
    attendeePhone: z.string(),
    attendeeName: z.string(),
    calendarId: z.string(),
    confirmed: z.boolean(),
    status: z.enum(['pending', 'confirmed', 'open', 'cancelled']).openapi({
      description:
        '`pending` while the calendar server is asked, `open` where it was noted for the caller and is not in the calendar.',
    }),
    reason: z.enum(['unreachable', 'taken']).nullable().openapi({
      description:
        'Of an open one: `unreachable` is tried again by itself, for `taken` a person has to find another time.',
    }),
    callId: z.string(),
    agentId: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('CalendarAppointment');

/** One page of appointments. */
export const appointmentPageSchema = pageOf(appointmentSchema).openapi('AppointmentPage');

/** Query of the appointments of a calendar. */
export const appointmentQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  from: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .openapi({
      ...{ type: 'string', format: 'date-time' },
      param: { description: 'Those that begin at or after it; now unless given.' },
    }),
});
