/** Appointment tools of live calls, by the calendar that the agent names. */
import type { Agent } from '../../domain/agent/agent.ts';
import type { Call } from '../../domain/call/call.ts';
import type { Stores } from '../../domain/stores.ts';
import type { Tool } from '../tool.ts';
import { AppointmentDesk, type DeskParts } from './appointment-desk.ts';
import { appointmentTools } from './appointment-tools.ts';
import type { OpenCalendarServer } from './calendar-server.ts';
import { scheduleOf } from './schedule.ts';

/** Makes the tools of each call. */
export class CallCalendars {
  readonly #parts: DeskParts & {
    readonly calendars: Stores['calendars'];
    readonly openServer: OpenCalendarServer;
  };

  constructor(
    parts: DeskParts & {
      readonly calendars: Stores['calendars'];
      readonly openServer: OpenCalendarServer;
    },
  ) {
    this.#parts = parts;
  }

  /** None where the agent does not list `book_appointment`, or names no calendar that exists. */
  async toolsOf(agent: Agent, call: Call): Promise<readonly Tool[]> {
    const { calendars, clock, openServer } = this.#parts;
    if (agent.calendar === null || !agent.tools.includes('book_appointment')) return [];
    const calendar = await calendars.find(agent, agent.calendar);
    if (calendar === undefined) return [];
    const server = openServer(calendar);
    const desk = new AppointmentDesk({ calendar, call, server, parts: this.#parts });
    return appointmentTools({ desk, schedule: scheduleOf(calendar, clock.now()) });
  }
}
