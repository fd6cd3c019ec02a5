/** Calendars of live calls: the tools that find times, book, change and cancel, and the calendar servers behind them. */
import type { Agent } from '../../domain/agent/agent.ts';
import type { BookedAppointment, CalendarServer } from '../../domain/calendar/appointment.ts';
import {
  type Calendar,
  localInstant,
  type Schedule,
  scheduleOf,
  writtenIn,
} from '../../domain/calendar/calendar.ts';
import type { Call } from '../../domain/call/call.ts';
import type { Stores } from '../../domain/stores.ts';
import type { WebhookUrlRules } from '../../domain/webhook/webhook-url.ts';
import {
  type AppointmentRequest,
  type Booking,
  CalendarError,
  createBookAppointment,
} from '../book-appointment.ts';
import type { Tool, ToolArguments, ToolOutcome } from '../tool.ts';
import {
  AppointmentDesk,
  type DeskOutcome,
  type DeskParts,
  UNREACHABLE,
} from './appointment-desk.ts';
import { AppointmentSync } from './appointment-sync.ts';
import type { CalDavHttp } from './caldav-server.ts';

interface Parts extends DeskParts {
  readonly calendars: Stores['calendars'];
  /** Stopped with the calendars. */
  readonly servers: Pick<CalendarServers, 'open' | 'stop'>;
}

/** Makes appointment tools by the calendar that an agent names. */
export class LiveCalendars {
  readonly #parts: Parts;
  readonly #sync: AppointmentSync;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sync = new AppointmentSync({ ...parts, openServer: parts.servers.open });
  }

  /** Starts to send calendar servers the changes that they have missed. Call it once. */
  start(): void {
    this.#sync.start();
  }

  /** Safe to call twice, and without a start. */
  async stop(): Promise<void> {
    await this.#sync.stop();
    await this.#parts.servers.stop();
  }

  /** Makes the tools of a call; none where the agent does not list `book_appointment`, or names no calendar that exists. */
  async toolsOf(agent: Agent, call: Call): Promise<readonly Tool[]> {
    const { calendars, clock, servers } = this.#parts;
    if (agent.calendar === null || !agent.tools.includes('book_appointment')) return [];
    const calendar = await calendars.find(agent, agent.calendar);
    if (calendar === undefined) return [];
    const server = servers.open(calendar);
    const desk = new AppointmentDesk({ calendar, call, server, parts: this.#parts });
    return appointmentTools({ desk, schedule: scheduleOf(calendar, clock.now()) });
  }
}

/** Opens calendar servers; the CalDAV client is loaded with the first request. */
export class CalendarServers {
  readonly #options: { readonly rules: WebhookUrlRules; readonly version: string };
  #http: CalDavHttp | undefined;

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
    await this.#http?.close();
  }

  async #load(calendar: Calendar): Promise<CalendarServer> {
    const { CalDavHttp, CalDavServer } = await import('./caldav-server.ts');
    this.#http ??= new CalDavHttp(this.#options);
    return new CalDavServer(calendar, this.#http);
  }
}

/** Dependencies of the tools of one call. */
interface ToolParts {
  readonly desk: AppointmentDesk;
  readonly schedule: Schedule;
}

/** Makes the tools of one call. */
function appointmentTools(parts: ToolParts): readonly Tool[] {
  return [bookTool(parts), findTool(parts), changeTool(parts), cancelTool(parts)];
}

/** For a calendar that does not answer: only a wish can be noted. */
const TAKE_A_MESSAGE =
  'Say that the calendar cannot be reached now, and that the wish has been noted in this call for a person to see';

function bookTool({ desk, schedule }: ToolParts): Tool {
  const book = async (request: AppointmentRequest, signal: AbortSignal): Promise<Booking> => {
    const { title, startTime: start, endTime: end, attendeeName } = request;
    const outcome = await desk.book({ title, attendeeName, span: { start, end } }, signal);
    if (outcome.kind === 'refused') throw new CalendarError(reasonOf(outcome, schedule));
    const { calendar, status } = outcome.appointment;
    return { calendarId: calendar, confirmed: status === 'confirmed', isOnRecord: true };
  };
  return createBookAppointment({
    calendar: { book },
    attendeePhone: desk.phone,
    schedule,
  });
}

const text = (description: string, maxLength: number) => ({
  type: 'string',
  description,
  maxLength,
});

function findTool({ desk, schedule }: ToolParts): Tool {
  return {
    isAfterWords: false,
    description: {
      name: 'find_appointment_times',
      description: 'Finds the next free times. Use it before you offer a time.',
      parameters: {
        type: 'object',
        properties: { from: text(`Not before. ${schedule.startDescription}`, 40) },
        required: ['from'],
        additionalProperties: false,
      },
    },
    run: async (args, _context, signal) => {
      const from = localInstant(String(args.from), schedule);
      if (typeof from === 'string') return { text: `No times were found: ${from}.` };
      const outcome = await desk.free(from, schedule.slotMinutes, signal);
      if (outcome.kind !== 'refused' || outcome.offers.length === 0) {
        return { text: `No times were found: ${reasonOf(outcome, schedule)}.` };
      }
      return { text: `Free: ${offersOf(outcome, schedule)}.`, isDone: true };
    },
  };
}

/** Parameters that identify the appointment to be changed or cancelled. */
const which = ({ startDescription }: Schedule) => ({
  attendeeName: text('The name that the caller says it was booked under.', 120),
  startTime: text(
    `When it is now, only where the caller has several. ${startDescription.replace('Begin, l', 'L')}`,
    40,
  ),
});

function changeTool(parts: ToolParts): Tool {
  const { schedule } = parts;
  return {
    isAfterWords: false,
    needsSureWords: true,
    lateText:
      'It is not known yet whether the appointment was changed. Say so, and that it will be confirmed later.',
    description: {
      name: 'change_appointment',
      description:
        'Moves an appointment of the caller to another time. Use it only when the caller has agreed to the new time and has said their name.',
      parameters: {
        type: 'object',
        properties: { ...which(schedule), newStartTime: text(schedule.startDescription, 40) },
        required: ['attendeeName', 'newStartTime'],
        additionalProperties: false,
      },
    },
    run: async (args, _context, signal) => {
      const found = await findOne(args, parts);
      if (typeof found === 'string') return notDone('changed', found);
      const start = localInstant(String(args.newStartTime), schedule);
      if (typeof start === 'string') return notDone('changed', start);
      const outcome = await parts.desk.change(found, start, signal);
      if (outcome.kind === 'refused') {
        const stays = `it stays at ${writtenIn(schedule, found.startsAt)}`;
        return notDone('changed', `${reasonOf(outcome, schedule)}; ${stays}`);
      }
      const time = writtenIn(schedule, outcome.appointment.startsAt);
      const text =
        outcome.kind === 'done'
          ? `The appointment is now at ${time}.`
          : `The new time, ${time}, is noted, and has yet to be confirmed.`;
      return { text, isDone: true };
    },
  };
}

function cancelTool(parts: ToolParts): Tool {
  const { schedule } = parts;
  return {
    isAfterWords: false,
    needsSureWords: true,
    description: {
      name: 'cancel_appointment',
      description:
        'Cancels an appointment of the caller. Use it only when the caller has said their name and wants it cancelled.',
      parameters: {
        type: 'object',
        properties: which(schedule),
        required: ['attendeeName'],
        additionalProperties: false,
      },
    },
    run: async (args) => {
      const found = await findOne(args, parts);
      if (typeof found === 'string') return notDone('cancelled', found);
      await parts.desk.cancel(found);
      const time = writtenIn(schedule, found.startsAt);
      return { text: `The appointment at ${time} is cancelled.`, isDone: true };
    },
  };
}

/** The one appointment that is meant, or why none is. A stranger learns of no appointment. */
async function findOne(
  args: ToolArguments,
  { desk, schedule }: ToolParts,
): Promise<BookedAppointment | string> {
  const startsAt =
    args.startTime === undefined ? undefined : localInstant(String(args.startTime), schedule);
  if (typeof startsAt === 'string') return startsAt;
  const found = await desk.find(String(args.attendeeName), startsAt);
  const [first] = found;
  if (first === undefined) return 'there is none for the number of this call under that name';
  if (found.length === 1) return first;
  const times = found.map((one) => writtenIn(schedule, one.startsAt)).join(', ');
  return `the caller has several: ${times}; ask which one`;
}

function notDone(deed: string, reason: string): ToolOutcome {
  return { text: `The appointment was not ${deed}: ${reason}. Do not say that it was.` };
}

function reasonOf(outcome: DeskOutcome, schedule: Schedule): string {
  if (outcome.kind !== 'refused') return '';
  const { offers, reason } = outcome;
  if (offers.length > 0) return `${reason}. Free: ${offersOf(outcome, schedule)}`;
  return reason === UNREACHABLE ? `${reason}. ${TAKE_A_MESSAGE}` : reason;
}

function offersOf(
  { offers }: Extract<DeskOutcome, { readonly kind: 'refused' }>,
  schedule: Schedule,
): string {
  return offers.map(({ start }) => writtenIn(schedule, start)).join(', ');
}
