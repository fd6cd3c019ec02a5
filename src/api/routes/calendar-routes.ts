/** `/api/calendars`: makes, lists, shows, changes and deletes calendars, and lists their appointments. */
import { type BookedAppointment, reported } from '../../domain/calendar/appointment.ts';
import {
  CALENDAR_LIMITS,
  type Calendar,
  createCalendar,
  FEED_TOKEN_CHARS,
  patchCalendar,
} from '../../domain/calendar/calendar.ts';
import { base62 } from '../../domain/ids.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import {
  describeRoute,
  jsonBody,
  jsonResponse,
  TAKES_IF_MATCH,
  taggedResponse,
} from '../http/describe-route.ts';
import { entityTag, requireMatch } from '../http/entity-tag.ts';
import { existing } from '../http/errors.ts';
import {
  appointmentPageSchema,
  appointmentQuerySchema,
  appointmentSchema,
  calendarPageSchema,
  calendarPathSchema,
  calendarQuerySchema,
  calendarSchema,
  createCalendarSchema,
  patchCalendarSchema,
} from '../schemas/calendar-schemas.ts';
import { viewOf } from '../serializers.ts';

const reads = { tag: 'Calendars', scope: 'agents:read' } as const;

const writes = { tag: 'Calendars', scope: 'agents:write' } as const;

const listRoute = describeRoute({
  ...reads,
  operationId: 'listCalendars',
  method: 'get',
  path: '/api/calendars',
  summary: 'Lists calendars by name',
  request: { query: calendarQuerySchema },
  responses: { 200: jsonResponse('A page of calendars.', calendarPageSchema) },
});

const newRoute = describeRoute({
  ...writes,
  operationId: 'createCalendar',
  method: 'post',
  path: '/api/calendars',
  summary: 'Makes a calendar that agents book appointments in',
  description: `At most ${CALENDAR_LIMITS.calendarsMax} an environment (409). An agent books in it once its \`calendar\` names it and its \`tools\` have \`book_appointment\`. A url that is no https URL is 400; one whose host is a private, loopback or special address is 422.`,
  request: { body: jsonBody(createCalendarSchema) },
  responses: { 201: taggedResponse('The calendar was made.', calendarSchema) },
});

const getRoute = describeRoute({
  ...reads,
  operationId: 'getCalendar',
  method: 'get',
  path: '/api/calendars/{calendarName}',
  summary: 'Shows a calendar',
  request: { params: calendarPathSchema },
  responses: { 200: taggedResponse('Every field but the password.', calendarSchema) },
});

const patchRoute = describeRoute({
  ...writes,
  operationId: 'updateCalendar',
  method: 'patch',
  path: '/api/calendars/{calendarName}',
  summary: 'Changes the fields that the body has',
  description:
    'Calls in progress keep the calendar as it was when they began; appointments stay as they are.',
  ...TAKES_IF_MATCH,
  request: { params: calendarPathSchema, body: jsonBody(patchCalendarSchema) },
  responses: { 200: taggedResponse('The calendar was changed.', calendarSchema) },
  errors: [412, 422],
});

const deleteRoute = describeRoute({
  ...writes,
  operationId: 'deleteCalendar',
  method: 'delete',
  path: '/api/calendars/{calendarName}',
  summary: 'Deletes a calendar and its past appointments',
  description:
    'A calendar that an agent uses, or with appointments to come, is 409. Events on a CalDAV server stay there.',
  ...TAKES_IF_MATCH,
  request: { params: calendarPathSchema },
  responses: { 204: { description: 'The calendar is gone.' } },
  errors: [409, 412],
});

const feedRoute = describeRoute({
  ...writes,
  operationId: 'renewCalendarFeed',
  method: 'post',
  path: '/api/calendars/{calendarName}/feed',
  summary: 'Gives the feed of a calendar a new link; the old one no longer works',
  request: { params: calendarPathSchema },
  responses: { 200: jsonResponse('The calendar with its new `feedUrl`.', calendarSchema) },
});

const appointmentsRoute = describeRoute({
  ...reads,
  scope: 'calls:read',
  operationId: 'listAppointments',
  method: 'get',
  path: '/api/calendars/{calendarName}/appointments',
  summary: 'Lists the appointments that agents booked in a calendar, by their begin',
  description: 'Cancelled ones too. Events that others made on a CalDAV server are not in it.',
  request: { params: calendarPathSchema, query: appointmentQuerySchema },
  responses: { 200: jsonResponse('A page of appointments.', appointmentPageSchema) },
});

/** Adds `/api/calendars`, their appointments and iCalendar feeds. */
export function addCalendarRoutes(api: ApiApp, deps: ApiDeps): void {
  addCalendarReads(api, deps);
  addCalendarWrites(api, deps);
  addFeedRenewal(api, deps);
  addCalendarFeeds(api, deps);
}

function addCalendarReads(api: ApiApp, deps: ApiDeps): void {
  const { appointments, calendars, clock } = deps;

  api.openapi(listRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const { calendars: page, total } = await calendars.list(scopeOf(context), { limit, offset });
    const data = page.map((calendar) => calendarView(calendar, deps));
    return context.json({ data, total, limit, offset }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { calendarName } = context.req.valid('param');
    const found = await calendars.find(scopeOf(context), calendarName);
    const calendar = existing(found, 'calendar');
    context.header('ETag', entityTag(calendar.updatedAt));
    return context.json(calendarView(calendar, deps), 200);
  });

  api.openapi(appointmentsRoute, async (context) => {
    const { calendarName } = context.req.valid('param');
    const { limit, offset, from = clock.now() } = context.req.valid('query');
    const found = await calendars.find(scopeOf(context), calendarName);
    const calendar = existing(found, 'calendar');
    const page = await appointments.list(calendar, { from, limit, offset });
    const data = page.appointments.map(appointmentView);
    return context.json({ data, total: page.total, limit, offset }, 200);
  });
}

function addCalendarWrites(api: ApiApp, deps: ApiDeps): void {
  const { clock, webhookUrlRules: urlRules } = deps;

  api.openapi(newRoute, async (context) => {
    const draft = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const feedToken = base62(FEED_TOKEN_CHARS, deps.random);
        const facts = { scope, now: clock.now(), urlRules, feedToken };
        const calendar = createCalendar(draft, facts);
        return commit(async (stores) => {
          await stores.calendars.insert(calendar);
          return { status: 201, body: calendarView(calendar, deps) };
        });
      },
      etag: ({ updatedAt }) => entityTag(updatedAt),
    });
  });

  api.openapi(patchRoute, async (context) => {
    const { calendarName } = context.req.valid('param');
    const facts = { now: clock.now(), urlRules };
    const changed = await deps.transaction(async (stores) => {
      const found = await stores.calendars.find(scopeOf(context), calendarName);
      const calendar = existing(found, 'calendar');
      requireMatch(context, calendar.updatedAt, 'the calendar');
      const patched = patchCalendar(calendar, context.req.valid('json'), facts);
      await stores.calendars.update(patched);
      return patched;
    });
    context.header('ETag', entityTag(changed.updatedAt));
    return context.json(calendarView(changed, deps), 200);
  });

  api.openapi(deleteRoute, async (context) => {
    const { calendarName } = context.req.valid('param');
    const scope = scopeOf(context);
    await deps.transaction(async (stores) => {
      const found = await stores.calendars.find(scope, calendarName);
      requireMatch(context, existing(found, 'calendar').updatedAt, 'the calendar');
      await stores.calendars.delete(scope, calendarName, clock.now());
    });
    return context.body(null, 204);
  });
}

function addFeedRenewal(api: ApiApp, deps: ApiDeps): void {
  api.openapi(feedRoute, async (context) => {
    const { calendarName } = context.req.valid('param');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: (commit) =>
        commit(async (stores) => {
          const found = await stores.calendars.find(scope, calendarName);
          const feedToken = base62(FEED_TOKEN_CHARS, deps.random);
          const renewed = { ...existing(found, 'calendar'), feedToken };
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
    const { appointments } = await deps.appointments.list(calendar, page);
    const shown = appointments.filter(({ status }) => status === 'confirmed' || status === 'open');
    // Loaded with the first feed that is read.
    const { textOfFeed } = await import('../../domain/calendar/ics.ts');
    context.header('Content-Type', 'text/calendar; charset=utf-8');
    context.header('Cache-Control', 'private, no-store');
    return context.body(textOfFeed(calendar.name, shown));
  });
}
