/** Calendars of live calls: the tools of each call, and what brings calendar servers up to date. */
import type { Agent } from '../../domain/agent/agent.ts';
import type { Call } from '../../domain/call/call.ts';
import type { Stores } from '../../domain/stores.ts';
import type { Tool } from '../tool.ts';
import { AppointmentDesk, type DeskParts } from './appointment-desk.ts';
import { AppointmentSync } from './appointment-sync.ts';
import { appointmentTools } from './appointment-tools.ts';
import type { CalendarServers } from './calendar-servers.ts';
import { scheduleOf } from './schedule.ts';

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

  /** Starts telling calendar servers what they have missed. To be called once. */
  start(): void {
    this.#sync.start();
  }

  /** Safe to call twice, and without a start. */
  async stop(): Promise<void> {
    await this.#sync.stop();
    await this.#parts.servers.stop();
  }

  /** None where the agent does not list `book_appointment`, or names no calendar that exists. */
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
