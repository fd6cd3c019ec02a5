/** `/calendars/{token}.ics`: the feed of a calendar; the token in the address is the credential. */
import { FEED_TOKEN_CHARS } from '../../../domain/calendar/calendar.ts';
import type { ApiApp, ApiDeps } from '../../api-env.ts';

/** Path of the feeds. */
export const FEED_PATH = '/calendars';

/** Appointments of a feed; programs that subscribe read all of it each time. */
const FEED_MAX = 1000;

/** Age of the oldest past appointment in a feed. */
const PAST_MS = 30 * 86_400_000;

const FILE = new RegExp(`^([0-9A-Za-z]{${FEED_TOKEN_CHARS}})\\.ics$`);

/** Adds the feeds: not of the customers' interface, since calendar programs read them. An unknown address is 404. */
export function addCalendarFeedRoutes(api: ApiApp, deps: ApiDeps): void {
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
    const { textOfFeed } = await import('../../../domain/calendar/ics.ts');
    context.header('Content-Type', 'text/calendar; charset=utf-8');
    context.header('Cache-Control', 'private, no-store');
    return context.body(textOfFeed(calendar.name, shown));
  });
}
