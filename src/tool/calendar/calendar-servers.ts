/** Calendar servers of calendars, over one pool of connections. */
import type { Calendar } from '../../domain/calendar/calendar.ts';
import type { WebhookUrlRules } from '../../domain/webhook/webhook-url.ts';
import type { CalDavHttp } from './caldav-http.ts';
import type { CalendarServer } from './calendar-server.ts';

/** Opens calendar servers; the CalDAV client is loaded with the first request. */
export class CalendarServers {
  readonly #options: { readonly rules: WebhookUrlRules; readonly version: string };
  #http: Promise<CalDavHttp> | undefined;

  /** @param options.version of the server, for the `User-Agent`. */
  constructor(options: { readonly rules: WebhookUrlRules; readonly version: string }) {
    this.#options = options;
  }

  /** Undefined for a built-in calendar. */
  readonly open = (calendar: Calendar): CalendarServer | undefined => {
    if (calendar.kind === 'builtin') return undefined;
    const load = () => this.#load(calendar);
    return {
      busy: async (...asked) => (await load()).busy(...asked),
      put: async (...asked) => (await load()).put(...asked),
      remove: async (...asked) => (await load()).remove(...asked),
    };
  };

  /** Ends requests in progress. Safe to call twice. */
  async stop(): Promise<void> {
    await (await this.#http)?.close();
  }

  async #load(calendar: Calendar): Promise<CalendarServer> {
    const { CalDavServer } = await import('./caldav-server.ts');
    this.#http ??= this.#openHttp();
    return new CalDavServer(calendar, await this.#http);
  }

  async #openHttp(): Promise<CalDavHttp> {
    const [{ CalDavHttp }, { nameResolver }] = await Promise.all([
      import('./caldav-http.ts'),
      import('../../webhook/ssrf-guard.ts'),
    ]);
    return new CalDavHttp({ ...this.#options, resolve: nameResolver() });
  }
}
