/** A collection of a CalDAV server (RFC 4791, RFC 4918) as a calendar, and its HTTP: checked addresses, no redirects, bounds on time and size. */
import {
  calendarQuery,
  createCalendarObject,
  type DAVResponse,
  deleteCalendarObject,
  updateCalendarObject,
} from 'tsdav';
import {
  type BookedAppointment,
  type CalendarServer,
  CalendarServerError,
} from '../../domain/calendar/appointment.ts';
import type { Calendar } from '../../domain/calendar/calendar.ts';
import { busySpansOf, movedText, textOfAppointment, uidOf } from '../../domain/calendar/ics.ts';
import type { TimeSpan } from '../../domain/calendar/slots.ts';
import { readAtMost } from '../../lib/bounded-body.ts';
import { GuardedHttp, type GuardOptions } from '../../webhook/ssrf-guard.ts';

/** Tries of a write: another client may write the event between our look and our write. */
const WRITE_TRIES = 2;

const PRECONDITION_FAILED = 412;

const NOT_FOUND = 404;

const MULTI_STATUS = 207;

/** With a name space's prefix or without. */
const WHOLE_LIST = /<(?:\/(?:[\w-]+:)?multistatus|(?:[\w-]+:)?multistatus[^<>]*\/)>\s*$/;

/** Opens the collection of a calendar. @param calendar of the kind `caldav`. */
export class CalDavServer implements CalendarServer {
  readonly #http: CalDavHttp;
  readonly #url: string;
  readonly #timeZone: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(calendar: Calendar, http: CalDavHttp) {
    const { password, timeZone, url, username } = calendar;
    this.#http = http;
    // Names of files are resolved against the collection.
    this.#url = `${url?.replace(/\/$/, '')}/`;
    this.#timeZone = timeZone;
    const pair = Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
    this.#headers = { Authorization: `Basic ${pair}` };
  }

  async busy(span: TimeSpan, exceptId: string, signal: AbortSignal): Promise<readonly TimeSpan[]> {
    const { fetch, headers } = this.#request(signal);
    const responses = await this.#query(span, {
      headers,
      fetch: async (...asked) => checkedList(await fetch(...asked)),
    });
    signal.throwIfAborted();
    const options = { timeZone: this.#timeZone, exceptUid: exceptId };
    return responses.flatMap((response) => spansIn(response, span, options));
  }

  async put(appointment: BookedAppointment, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const kept = await this.#read(appointment, signal);
      const text = kept === undefined ? undefined : movedIn(kept.text, appointment);
      const { status } = await (kept === undefined
        ? this.#create(appointment, signal)
        : this.#update(
            appointment,
            { ...kept, text: text ?? textOfAppointment(appointment) },
            signal,
          ));
      if (isSuccess(status)) return;
      if (status !== PRECONDITION_FAILED || attempt >= WRITE_TRIES) throw refused(status);
    }
  }

  async remove(appointment: BookedAppointment, signal: AbortSignal): Promise<void> {
    // Without an ETag: an event that was changed on the server meanwhile is deleted too.
    const calendarObject = { url: this.#urlOf(appointment), etag: '', data: '' };
    const { status } = await deleteCalendarObject({ ...this.#request(signal), calendarObject });
    if (!isSuccess(status) && status !== NOT_FOUND) throw refused(status);
  }

  /** @throws {CalendarServerError} also where the library cannot read the answer. */
  async #query(
    span: TimeSpan,
    request: { readonly headers: Record<string, string>; readonly fetch: typeof fetch },
  ): Promise<readonly DAVResponse[]> {
    const range = { start: basicOf(span.start), end: basicOf(span.end) };
    const events = {
      _attributes: { name: 'VEVENT' },
      'time-range': { _attributes: range },
    };
    try {
      return await calendarQuery({
        ...request,
        url: this.#url,
        depth: '1',
        props: { 'd:getetag': {}, 'c:calendar-data': {} },
        filters: {
          'comp-filter': { _attributes: { name: 'VCALENDAR' }, 'comp-filter': events },
        },
      });
    } catch (error) {
      if (error instanceof CalendarServerError) throw error;
      // The library's words may hold all of the answer: they are never logged.
      throw new CalendarServerError('the list of events is unreadable', { cause: error });
    }
  }

  #create(appointment: BookedAppointment, signal: AbortSignal): Promise<Response> {
    return createCalendarObject({
      ...this.#request(signal),
      calendar: { url: this.#url },
      filename: fileOf(appointment),
      iCalString: textOfAppointment(appointment),
    });
  }

  #update(
    appointment: BookedAppointment,
    { etag, text }: { readonly etag: string; readonly text: string },
    signal: AbortSignal,
  ): Promise<Response> {
    const calendarObject = { url: this.#urlOf(appointment), data: text, etag };
    return updateCalendarObject({ ...this.#request(signal), calendarObject });
  }

  /** The event on the server; undefined when there is none. */
  async #read(
    appointment: BookedAppointment,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly etag: string } | undefined> {
    const { fetch, headers } = this.#request(signal);
    const response = await fetch(this.#urlOf(appointment), { headers });
    if (response.status === NOT_FOUND) return undefined;
    if (!isSuccess(response.status)) throw refused(response.status);
    return { text: await response.text(), etag: response.headers.get('etag') ?? '' };
  }

  #urlOf(appointment: BookedAppointment): string {
    return new URL(fileOf(appointment), this.#url).href;
  }

  #request(signal: AbortSignal) {
    return { headers: { ...this.#headers }, fetch: this.#http.fetchWith(signal) };
  }
}

function fileOf(appointment: BookedAppointment): string {
  return `${uidOf(appointment)}.ics`;
}

/** The library takes any success for an answer without events, also the page of a login, and half a list for a whole one. */
async function checkedList(answer: Response): Promise<Response> {
  const { headers, status } = answer;
  if (status !== MULTI_STATUS) throw refused(status);
  const text = await answer.text();
  if (!WHOLE_LIST.test(text)) throw new CalendarServerError('the list of events is unreadable');
  return new Response(text, { status, headers });
}

/** Busy spans of a list entry. Throws for an unreadable one: its time is not known, and would be booked twice. */
function spansIn(
  { href, props, raw }: DAVResponse,
  span: TimeSpan,
  options: { readonly timeZone: string; readonly exceptUid: string },
): readonly TimeSpan[] {
  if (typeof raw !== 'object' || raw === null) {
    throw new CalendarServerError('the list of events is unreadable');
  }
  // The collection itself, where the server lists it.
  if (href?.endsWith('/')) return [];
  const data: unknown = props?.calendarData?._cdata ?? props?.calendarData;
  try {
    return busySpansOf(String(data), span, options);
  } catch (error) {
    throw new CalendarServerError('an event in the calendar is unreadable', { cause: error });
  }
}

/** @throws {CalendarServerError} when the server's text of the event is unreadable: text of the staff is not overwritten. */
function movedIn(text: string, appointment: BookedAppointment): string | undefined {
  try {
    return movedText(text, appointment);
  } catch (error) {
    // The library's words may hold the text: they are never logged.
    throw new CalendarServerError('the event in the calendar is unreadable', { cause: error });
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function refused(status: number): CalendarServerError {
  return new CalendarServerError(`it answered with status ${status}`);
}

/** Instant in basic format, such as `20261201T090000Z`. */
function basicOf(instant: Date): string {
  return instant.toISOString().replace(/[-:]|\.\d+/g, '');
}

const CONNECT_MS_MAX = 3000;

/** More of an answer is not read: two weeks of a busy calendar are some hundred kilobytes. */
const READ_BYTES_MAX = 4 * 1024 * 1024;

/** Requests to one server that run at one time; further ones wait within their limits of time. */
const CONNECTIONS_MAX = 16;

/** Sends over pooled connections. */
export class CalDavHttp {
  readonly #http: GuardedHttp;

  /** @param options.version of the server, for the `User-Agent`. */
  constructor(options: GuardOptions & { readonly version: string }) {
    const limits = { timeoutMs: CONNECT_MS_MAX, connections: CONNECTIONS_MAX };
    this.#http = new GuardedHttp({ ...options, ...limits });
  }

  /**
   * Gives a `fetch` for a library that takes one; a redirect is an answer like others.
   *
   * @throws {CalendarServerError} when there is no answer, or too long a one; the signal's reason when aborted.
   */
  fetchWith(signal: AbortSignal): typeof fetch {
    return async (input, init = {}) => {
      try {
        return await this.#send(String(input), init, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof CalendarServerError) throw error;
        throw new CalendarServerError(reasonOf(error), { cause: error });
      }
    };
  }

  /** Breaks every connection off. Safe to call twice. */
  close(): Promise<void> {
    return this.#http.close();
  }

  async #send(url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const answer = await this.#http.request(url, {
      // undici's types do not list REPORT, but undici sends any method.
      method: (init.method ?? 'GET') as 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === 'string' ? init.body : null,
      signal,
    });
    const { text, isWhole } = await readAtMost(answer.body, READ_BYTES_MAX);
    if (!isWhole) throw new CalendarServerError('its answer is too long');
    const isEmpty = [204, 205, 304].includes(answer.statusCode);
    const kept = ['content-type', 'etag'].flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    return new Response(isEmpty ? null : text, { status: answer.statusCode, headers: kept });
  }
}

/** The code of the error, or its words where it has none: of the network or of the address, and never of a body. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.message;
  return `no answer: ${code}`;
}
