/** Appointment tools of calls on a real store; the calendar server is the test's. */
import { randomBytes } from 'node:crypto';
import type { Agent } from '../../../src/domain/agent/agent.ts';
import type {
  BookedAppointment,
  CalendarServer,
  OpenCalendarServer,
} from '../../../src/domain/calendar/appointment.ts';
import type { Calendar } from '../../../src/domain/calendar/calendar.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { idMaker } from '../../../src/domain/ids.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { AppointmentSync } from '../../../src/tool/calendar/appointment-sync.ts';
import { LiveCalendars } from '../../../src/tool/calendar/live-calendars.ts';
import type { ToolContext } from '../../../src/tool/tool.ts';
import { Toolbox } from '../../../src/tool/toolbox.ts';
import { buildAgent } from '../store/build-agent.ts';
import { buildCalendar } from '../store/build-appointment.ts';
import { buildCall } from '../store/build-call.ts';
import { openTestStore, type TestStore } from '../store/test-store.ts';

/** Of the default caller. */
export const CALLER = '+12025550187';

const NO_CALL: ToolContext = {
  transfer: () => Promise.reject(new Error('no transfers here')),
  collectDigits: () => Promise.reject(new Error('no keys here')),
  sendDigits: () => {
    throw new Error('no keys here');
  },
  appointmentBooked: () => {
    throw new Error('the calendar itself puts it on record');
  },
};

const never = new AbortController().signal;

export type Ask = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
) => Promise<string>;

export interface AppointmentWorld {
  readonly store: TestStore;
  readonly calendar: Calendar;
  /** The tools of a new call: runs one, and gives what the model is told. */
  callFrom(phone: string, fields?: Partial<Call>): Promise<Ask>;
  /** The tools of a call of the agent. */
  toolboxOf(agent: Partial<Agent>): Promise<Toolbox>;
  readonly sync: AppointmentSync;
  appointments(): Promise<readonly BookedAppointment[]>;
  /** Appointments of the `appointment.booked` events, in their order. */
  events(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** @param options.clock the store's own, which stands still, unless given. */
export async function openAppointmentWorld(
  options: {
    readonly calendar?: Partial<Calendar>;
    /** Of every calendar, or of each. */
    readonly server?: CalendarServer | OpenCalendarServer;
    readonly clock?: Clock;
    readonly store?: TestStore;
  } = {},
): Promise<AppointmentWorld> {
  const store = options.store ?? (await openTestStore());
  const clock = options.clock ?? store.clock;
  const calendar = buildCalendar(options.calendar);
  const isKnown = (await store.calendars.find(calendar, calendar.name)) !== undefined;
  if (!isKnown) await store.calendars.insert(calendar);
  const { server } = options;
  const openServer = typeof server === 'function' ? server : () => server;
  const parts = {
    ...{ calendars: store.calendars, appointments: store.appointments, log: silentLogger, clock },
    transaction: store.transaction,
    newId: idMaker({ nowMs: () => clock.nowMs(), random: randomBytes }),
    ...{ openServer, servers: { open: openServer, stop: async () => undefined } },
  };
  const live = new LiveCalendars(parts);
  const agent = buildAgent({ calendar: calendar.name, tools: ['book_appointment'] });
  return {
    store,
    calendar,
    sync: new AppointmentSync(parts),
    toolboxOf: async (fields) => {
      const tools = await live.toolsOf({ ...agent, ...fields }, buildCall());
      return new Toolbox({ tools, clock });
    },
    callFrom: async (phone, fields = {}) => {
      const id = parts.newId('call');
      const made = buildCall({
        id,
        from: phone,
        direction: 'inbound',
        status: 'in_progress',
        ...fields,
      });
      await store.calls.insert(made, []);
      const box = new Toolbox({ tools: await live.toolsOf(agent, made), clock });
      return async (name, args, signal = never) =>
        (await box.run({ id: 'tool_1', name, arguments: args }, NO_CALL, signal)).text;
    },
    appointments: async () => {
      const query = { from: new Date(0), limit: 100, offset: 0 };
      return (await store.appointments.list(calendar, query)).items;
    },
    events: async () => {
      const query = { afterPosition: 0, limit: 100, kind: 'appointment.booked' as const };
      const { events } = await store.events.page(calendar, query);
      return events.map(({ body }) => JSON.parse(body).data.appointment);
    },
  };
}
