/** Sends calendar servers the changes that they have missed: after a failure of theirs, or a crash of this process. */
import {
  type BookedAppointment,
  type CalendarServer,
  CalendarServerError,
  type OpenCalendarServer,
} from '../../domain/calendar/appointment.ts';
import type { Calendar } from '../../domain/calendar/calendar.ts';
import { isFree } from '../../domain/calendar/slots.ts';
import type { Stores } from '../../domain/stores.ts';
import { type Clock, TimeLimit, unlessAborted } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { Repeater } from '../../lib/repeater.ts';
import { AppointmentLedger, type LedgerParts } from './appointment-ledger.ts';

/** Dependencies of the rounds. */
interface SyncParts extends LedgerParts {
  readonly appointments: Stores['appointments'];
  readonly calendars: Stores['calendars'];
  readonly openServer: OpenCalendarServer;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Calls come first while the server starts. */
const FIRST_ROUND_MS = 5000;

/** Pause between two rounds. */
const ROUND_MS = 60_000;

/** Younger ones may still be in progress on a call. */
const SETTLED_MS = 60_000;

/** Appointments that one round may try. */
const TRIES_MAX = 20;

/** Appointments that one round looks at: so many that calendars without an answer do not delay the others. */
const FOUND_MAX = 1000;

/** No caller waits. */
const SERVER_MS_MAX = 20_000;

/** Runs rounds until it is stopped. */
export class AppointmentSync {
  readonly #parts: SyncParts;
  readonly #ledger: AppointmentLedger;
  #startedAt = new Date(0);
  readonly #rounds: Repeater;
  readonly #end = new AbortController();

  constructor(parts: SyncParts) {
    this.#parts = parts;
    this.#ledger = new AppointmentLedger(parts);
    const run = () => this.run().then(() => ROUND_MS);
    this.#rounds = new Repeater({ clock: parts.clock, run });
  }

  /** Call it once. Requests for earlier records cannot be in progress, so the first round follows soon. */
  start(): void {
    this.#startedAt = this.#parts.clock.now();
    this.#rounds.askIn(FIRST_ROUND_MS);
  }

  /** Safe to call twice. Resolves when no request runs. */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the server stops'));
    await this.#rounds.stop();
  }

  /** One round. Never rejects. */
  async run(): Promise<void> {
    const { appointments, clock, log } = this.#parts;
    const now = clock.now();
    const settledMs = Math.max(now.getTime() - SETTLED_MS, this.#startedAt.getTime());
    const before = new Date(settledMs);
    try {
      const found = await appointments.unsynced({ now, before, limit: FOUND_MAX });
      // A calendar that did not answer is left alone for the rest of the round.
      const silent = new Set<string>();
      let triesLeft = TRIES_MAX;
      for (const appointment of found) {
        if (this.#end.signal.aborted || triesLeft === 0) return;
        const key = [appointment.accountId, appointment.environment, appointment.calendar].join();
        if (silent.has(key)) continue;
        triesLeft -= 1;
        if (!(await this.#settle(appointment))) silent.add(key);
      }
    } catch (error) {
      log.warn({ err: error }, 'appointments not told to their calendars, will try again');
    }
  }

  /** @returns false where the server did not answer. */
  async #settle(appointment: BookedAppointment): Promise<boolean> {
    const { calendars, clock, log, openServer } = this.#parts;
    const calendar = await calendars.find(appointment, appointment.calendar);
    const server = calendar && openServer(calendar);
    if (calendar === undefined || server === undefined) return true;
    const reason = 'the calendar server took too long';
    using limit = new TimeLimit(clock, SERVER_MS_MAX, { reason, signal: this.#end.signal });
    try {
      const work = this.#tell(appointment, calendar, server, limit.signal);
      await unlessAborted(work, limit.signal);
      return true;
    } catch (error) {
      if (this.#end.signal.aborted) return false;
      await this.#giveBack(appointment);
      const { name } = calendar;
      if (!limit.isOver && !(error instanceof CalendarServerError)) {
        const facts = { err: error, calendar: name, appointmentId: appointment.id };
        log.error(facts, 'appointment not told to its calendar, will try again');
        return true;
      }
      const why = error instanceof CalendarServerError ? error.message : reason;
      log.warn({ calendar: name, reason: why }, 'calendar still does not answer');
      return false;
    }
  }

  async #tell(
    appointment: BookedAppointment,
    calendar: Calendar,
    server: CalendarServer,
    signal: AbortSignal,
  ): Promise<void> {
    const { status, previousStartsAt } = appointment;
    if (status === 'cancelled') {
      await server.remove(appointment, signal);
      await this.#ledger.synced(appointment);
      return;
    }
    const isSettled = status === 'confirmed' && previousStartsAt === null;
    if (!isSettled && !(await isFreeAt(appointment, calendar, server, signal))) {
      await this.#taken(appointment);
      return;
    }
    await server.put(appointment, signal);
    if (isSettled) await this.#ledger.synced(appointment);
    else if (status === 'confirmed') await this.#ledger.moved(appointment);
    else await this.#ledger.confirm(appointment);
  }

  /** The time has gone to another meanwhile: a wish waits for a person, a move is taken back. */
  async #taken(appointment: BookedAppointment): Promise<void> {
    const { calendar, callId, id, status } = appointment;
    this.#parts.log.warn({ calendar, callId, appointmentId: id }, 'appointment: time was taken');
    if (status === 'confirmed') await this.#ledger.movedBack(appointment);
    else await this.#ledger.note(appointment, 'taken');
  }

  /** Turns an appointment that the caller was not told of, since the server crashed, into an open one. */
  async #giveBack(appointment: BookedAppointment): Promise<void> {
    if (appointment.status === 'pending') await this.#ledger.note(appointment, 'unreachable');
    else await this.#ledger.tried(appointment);
  }
}

async function isFreeAt(
  { id, startsAt, endsAt }: BookedAppointment,
  { bufferMinutes }: Calendar,
  server: CalendarServer,
  signal: AbortSignal,
): Promise<boolean> {
  const span = { start: startsAt, end: endsAt };
  const marginMs = bufferMinutes * 60_000 + 1;
  const around = {
    start: new Date(startsAt.getTime() - marginMs),
    end: new Date(endsAt.getTime() + marginMs),
  };
  return isFree(span, await server.busy(around, id, signal), bufferMinutes);
}
