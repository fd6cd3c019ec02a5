/** `/api/calendars`: makes, lists, shows, changes and deletes calendars, lists their appointments, and their feeds; with their schemas. */

import { z } from '@hono/zod-openapi';
import { type BookedAppointment, reported } from '../../domain/calendar/appointment.ts';
import {
  CALENDAR_KINDS,
  CALENDAR_LIMITS,
  CALENDAR_NAME,
  type Calendar,
  CLOCK_TIME,
  createCalendar,
  FEED_TOKEN_CHARS,
  patchCalendar,
} from '../../domain/calendar/calendar.ts';
import { base62 } from '../../domain/ids.ts';
import type { Stores } from '../../domain/stores.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import { WEEKDAYS } from '../../domain/zoned-time.ts';
import type { ApiApp, ApiDeps } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute, jsonResponse, pageResponse } from '../http/describe-route.ts';
import { words } from '../schemas/agent-schemas.ts';
import { PAGE_LIMIT, pagingFields } from '../schemas/query-schemas.ts';
import { viewOf } from '../serializers.ts';
import { addNamedRecordRoutes, namedRecordOf } from './named-record-routes.ts';

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
const createCalendarSchema = z
  .strictObject({ name, kind: z.enum(CALENDAR_KINDS), timeZone, ...optional })
  .openapi('CreateCalendar');

/** Body of `PATCH /api/calendars/{calendarName}`. */
const patchCalendarSchema = z
  .strictObject({ timeZone: timeZone.optional(), ...optional })
  .openapi('PatchCalendar', {
    minProperties: 1,
    description: 'Only the fields that are there change; `workingHours` replaces all of them.',
  });

/** A calendar; its password is never shown. */
const calendarSchema = z
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

/** An appointment, with its state on the calendar server. */
const appointmentSchema = z
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

/** Query of the appointments of a calendar. */
const appointmentQuerySchema = z.strictObject({
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

const KIND = {
  noun: 'calendar',
  name: 'Calendar',
  path: '/api/calendars',
  param: 'calendarName',
  tag: 'Calendars',
  readScope: 'agents:read',
  writeScope: 'agents:write',
  words: {
    list: { summary: 'Lists calendars by name', success: 'A page of calendars.' },
    create: {
      summary: 'Makes a calendar that agents book appointments in',
      description: `At most ${CALENDAR_LIMITS.calendarsMax} an environment (409). An agent books in it once its \`calendar\` names it and its \`tools\` have \`book_appointment\`. A url that is no https URL is 400; one whose host is a private, loopback or special address is 422.`,
      success: 'The calendar was made.',
    },
    get: { summary: 'Shows a calendar', success: 'Every field but the password.' },
    update: {
      summary: 'Changes the fields that the body has',
      description:
        'Calls in progress keep the calendar as it was when they began; appointments stay as they are.',
      success: 'The calendar was changed.',
    },
    delete: {
      summary: 'Deletes a calendar and its past appointments',
      description:
        'A calendar that an agent uses, or with appointments to come, is 409. Events on a CalDAV server stay there.',
      success: 'The calendar is gone.',
    },
  },
  createSchema: createCalendarSchema,
  patchSchema: patchCalendarSchema,
  schema: calendarSchema,
  storeOf: (stores: Pick<Stores, 'calendars'>) => stores.calendars,
} as const;

const feedRoute = describeRoute('post', '/api/calendars/{calendarName}/feed', {
  ...{ tag: 'Calendars', scope: 'agents:write' },
  operationId: 'renewCalendarFeed',
  summary: 'Gives the feed of a calendar a new link; the old one no longer works',
  responses: { 200: jsonResponse('The calendar with its new `feedUrl`.', calendarSchema) },
});

const appointmentsRoute = describeRoute('get', '/api/calendars/{calendarName}/appointments', {
  ...{ tag: 'Calendars', scope: 'calls:read' },
  operationId: 'listAppointments',
  summary: 'Lists the appointments that agents booked in a calendar, by their begin',
  description: 'Cancelled ones too. Events that others made on a CalDAV server are not in it.',
  request: { query: appointmentQuerySchema },
  responses: { 200: pageResponse('A page of appointments.', 'AppointmentPage', appointmentSchema) },
});

/** Adds `/api/calendars`, their appointments and iCalendar feeds. */
export function addCalendarRoutes(api: ApiApp, deps: ApiDeps): void {
  const { webhookUrlRules: urlRules } = deps;
  addNamedRecordRoutes(api, deps, {
    ...KIND,
    create: (draft, facts) => {
      const feedToken = base62(FEED_TOKEN_CHARS, deps.random);
      return createCalendar(draft, { ...facts, urlRules, feedToken });
    },
    patch: (calendar, patch, now) => patchCalendar(calendar, patch, { now, urlRules }),
    view: (calendar) => calendarView(calendar, deps),
  });
  addAppointments(api, deps);
  addFeedRenewal(api, deps);
  addCalendarFeeds(api, deps);
}

function addAppointments(api: ApiApp, deps: ApiDeps): void {
  const { appointments, clock } = deps;

  api.openapi(appointmentsRoute, async (context) => {
    const { limit, offset, from = clock.now() } = context.req.valid('query');
    const calendar = await namedRecordOf(deps, context, KIND);
    const page = await appointments.list(calendar, { from, limit, offset });
    const data = page.items.map(appointmentView);
    return context.json({ data, total: page.total, limit, offset }, 200);
  });
}

function addFeedRenewal(api: ApiApp, deps: ApiDeps): void {
  api.openapi(feedRoute, async (context) => {
    return answerOnce(context, deps, {
      work: (commit) =>
        commit(async (stores) => {
          const feedToken = base62(FEED_TOKEN_CHARS, deps.random);
          const renewed = { ...(await namedRecordOf(stores, context, KIND)), feedToken };
          await stores.calendars.update(renewed);
          return { status: 200, body: calendarView(renewed, deps) };
        }),
    });
  });
}

function calendarView(calendar: Calendar, { publicUrl }: Pick<ApiDeps, 'publicUrl'>) {
  const { feedToken, password } = calendar;
  return viewOf(calendarSchema, {
    ...calendar,
    hasPassword: password !== null,
    feedUrl: `${publicUrl}${FEED_PATH}/${feedToken}.ics`,
  });
}

function appointmentView(appointment: BookedAppointment) {
  return viewOf(appointmentSchema, { ...appointment, ...reported(appointment) });
}

/** Path of the feeds. */
const FEED_PATH = '/calendars';

/** Appointments of a feed; programs that subscribe read all of it each time. */
const FEED_MAX = 1000;

/** Age of the oldest past appointment in a feed. */
const PAST_MS = 30 * 86_400_000;

const FILE = new RegExp(`^([0-9A-Za-z]{${FEED_TOKEN_CHARS}})\\.ics$`);

/** Adds the feeds: not of the customers' interface, since calendar programs read them. An unknown address is 404. */
function addCalendarFeeds(api: ApiApp, deps: ApiDeps): void {
  api.get(`${FEED_PATH}/:file`, async (context) => {
    const [, token] = FILE.exec(context.req.param('file')) ?? [];
    if (token === undefined) return context.notFound();
    const calendar = await deps.calendars.findByFeedToken(token);
    if (calendar === undefined) return context.notFound();
    const from = new Date(deps.clock.now().getTime() - PAST_MS);
    const page = { from, limit: FEED_MAX, offset: 0 };
    const { items: appointments } = await deps.appointments.list(calendar, page);
    const shown = appointments.filter(({ status }) => status === 'confirmed' || status === 'open');
    // Loaded with the first feed that is read.
    const { textOfFeed } = await import('../../domain/calendar/ics.ts');
    context.header('Content-Type', 'text/calendar; charset=utf-8');
    context.header('Cache-Control', 'private, no-store');
    return context.body(textOfFeed(calendar.name, shown));
  });
}
