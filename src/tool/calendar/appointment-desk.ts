/** Books, moves and cancels appointments of one calendar for the caller of one call. */
import {
  type BookedAppointment,
  type CalendarServer,
  CalendarServerError,
  heldSpans,
  isKnownNumber,
  isSameName,
} from '../../domain/calendar/appointment.ts';
import type { Calendar } from '../../domain/calendar/calendar.ts';
import { freeSlots, searchedSpan, slotFault, type TimeSpan } from '../../domain/calendar/slots.ts';
import type { Call } from '../../domain/call/call.ts';
import type { Stores } from '../../domain/stores.ts';
import { TimeLimit, unlessAborted } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { AppointmentLedger, type LedgerParts } from './appointment-ledger.ts';

/** Dependencies that all desks share. */
export interface DeskParts extends LedgerParts {
  readonly appointments: Stores['appointments'];
  readonly log: Logger;
}

/** Result of a request. `noted`: it is kept, but not in the calendar, whose server does not answer. */
export type DeskOutcome =
  | { readonly kind: 'done' | 'noted'; readonly appointment: BookedAppointment }
  | {
      readonly kind: 'refused';
      /** The rest of a sentence. */
      readonly reason: string;
      /** Free times nearby. */
      readonly offers: readonly TimeSpan[];
    };

/** Title, time and name of a requested appointment. */
export interface BookingWish {
  readonly title: string;
  readonly span: TimeSpan;
  readonly attendeeName: string;
}

/** Free times that a caller is offered; more cannot be kept in mind by ear. */
const OFFERS = 3;

/** Time limit of each request to the calendar server: two of them end before the limit of a tool. */
const SERVER_MS_MAX = 4000;

/** Reason that tools give when the calendar server does not answer. */
export const UNREACHABLE = 'the calendar does not answer';

/** The desk of one call. */
export class AppointmentDesk {
  readonly #calendar: Calendar;
  readonly #call: Call;
  readonly #server: CalendarServer | undefined;
  readonly #parts: DeskParts;
  readonly #ledger: AppointmentLedger;

  constructor(options: {
    readonly calendar: Calendar;
    readonly call: Call;
    readonly server: CalendarServer | undefined;
    readonly parts: DeskParts;
  }) {
    this.#calendar = options.calendar;
    this.#call = options.call;
    this.#server = options.server;
    this.#parts = options.parts;
    this.#ledger = new AppointmentLedger(options.parts);
  }

  /** The caller's number from signalling, never from the caller's words. */
  get phone(): string {
    return this.#call.direction === 'inbound' ? this.#call.from : this.#call.to;
  }

  /** Books. Once the time is held, the signal no longer counts: the booking is brought to an end. */
  async book(wish: BookingWish, signal: AbortSignal): Promise<DeskOutcome> {
    const { span } = wish;
    const again = await this.#bookedBefore(span);
    if (again !== undefined) return bookedOutcome(again);
    const appointment = this.#newAppointment(wish);
    const busy = await this.#busy(span.start, appointment.id, signal);
    const fault = slotFault(span, this.#calendar, this.#parts.clock.now());
    if (fault !== undefined) return this.#refused(fault, span, busy);
    signal.throwIfAborted();
    const taken = { ...appointment, ...this.#stateOfNew(busy) };
    const refusal = await this.#ledger.take(this.#calendar, taken, busy ?? []);
    if (refusal !== undefined) return this.#refused(refusal, span, busy);
    if (taken.status !== 'pending') return bookedOutcome(taken);
    return this.#settled(taken, async () => {
      const isPut = await this.#tell((server, limit) => server.put(taken, limit));
      const saved = isPut
        ? await this.#ledger.confirm(taken)
        : await this.#ledger.note(taken, 'unreachable');
      return bookedOutcome(saved);
    });
  }

  /** The next free times from an instant on. */
  async free(from: Date, minutes: number, signal: AbortSignal): Promise<DeskOutcome> {
    const span = { start: from, end: new Date(from.getTime() + minutes * 60_000) };
    const busy = await this.#busy(from, '', signal);
    const reason = busy === undefined ? UNREACHABLE : 'no time is free in the two weeks from there';
    return this.#refused(reason, span, busy);
  }

  /**
   * Upcoming appointments of this number under this name.
   *
   * @param startsAt only the one that begins then; all of them unless given.
   */
  async find(name: string, startsAt?: Date): Promise<readonly BookedAppointment[]> {
    if (!isKnownNumber(this.phone)) return [];
    const { appointments, clock } = this.#parts;
    const upcoming = await appointments.upcomingOf(this.#calendar, this.phone, clock.now());
    return upcoming.filter(
      (one) =>
        one.status !== 'pending' &&
        one.previousStartsAt === null &&
        isSameName(name, one.attendeeName) &&
        (startsAt === undefined || one.startsAt.getTime() === startsAt.getTime()),
    );
  }

  /** Moves an appointment, which keeps its length; it stays as it was where that cannot be done. */
  async change(
    appointment: BookedAppointment,
    start: Date,
    signal: AbortSignal,
  ): Promise<DeskOutcome> {
    const lengthMs = appointment.endsAt.getTime() - appointment.startsAt.getTime();
    const span = { start, end: new Date(start.getTime() + lengthMs) };
    const fault = slotFault(span, this.#calendar, this.#parts.clock.now());
    const busy = await this.#busy(start, appointment.id, signal);
    if (fault !== undefined) return this.#refused(fault, span, busy);
    if (busy === undefined) return this.#refused(UNREACHABLE, span, busy);
    signal.throwIfAborted();
    // A wish that the server does not have yet is moved here alone.
    const isFinal = this.#server === undefined || appointment.status === 'open';
    const moved = await this.#ledger.move(this.#calendar, appointment, { span, busy, isFinal });
    if (typeof moved === 'string') return this.#refused(moved, span, busy);
    if (isFinal) return bookedOutcome(moved);
    return this.#settled(moved, async () => {
      if (await this.#tell((server, limit) => server.put(moved, limit))) {
        return bookedOutcome(await this.#ledger.moved(moved));
      }
      await this.#ledger.movedBack(moved);
      return this.#refused(UNREACHABLE, span, undefined);
    });
  }

  /** Cancels an appointment; where the server does not answer, its event is removed later. */
  async cancel(appointment: BookedAppointment): Promise<void> {
    const cancelled = await this.#ledger.cancel(appointment, this.#server === undefined);
    if (this.#server === undefined) return;
    const isRemoved = await this.#tell((server, limit) => server.remove(cancelled, limit));
    if (isRemoved) await this.#ledger.synced(cancelled);
  }

  /** Leaves to `AppointmentSync` what our database does not take now: the caller is not told of a failure. */
  async #settled(
    appointment: BookedAppointment,
    settle: () => Promise<DeskOutcome>,
  ): Promise<DeskOutcome> {
    try {
      return await settle();
    } catch (error) {
      const { callId, id: appointmentId } = appointment;
      this.#parts.log.error(
        { err: error, callId, appointmentId },
        'appointment left to be settled',
      );
      return { kind: 'noted', appointment };
    }
  }

  /** A model may repeat a call whose answer it did not get; a pending one is in progress, or left to be settled. */
  async #bookedBefore({ start }: TimeSpan): Promise<BookedAppointment | undefined> {
    const made = await this.#parts.appointments.ofCall(this.#call.id);
    return made.find(
      ({ calendar, startsAt, status }) =>
        calendar === this.#calendar.name &&
        startsAt.getTime() === start.getTime() &&
        status !== 'cancelled',
    );
  }

  #newAppointment({ title, span, attendeeName }: BookingWish): BookedAppointment {
    const { clock, newId } = this.#parts;
    const { accountId, environment, name: calendar } = this.#calendar;
    const now = clock.now();
    return {
      ...{ id: newId('appt'), accountId, environment, calendar },
      ...{ callId: this.#call.id, agentId: this.#call.agentId },
      ...{ title, startsAt: span.start, endsAt: span.end },
      ...{ attendeePhone: this.phone, attendeeName },
      ...{ status: 'confirmed', reason: null, isSynced: true },
      ...{ previousStartsAt: null, previousEndsAt: null },
      ...{ createdAt: now, updatedAt: now },
    };
  }

  #stateOfNew(busy: readonly TimeSpan[] | undefined) {
    if (this.#server === undefined) {
      return { status: 'confirmed', reason: null, isSynced: true } as const;
    }
    if (busy === undefined) {
      return { status: 'open', reason: 'unreachable', isSynced: false } as const;
    }
    return { status: 'pending', reason: null, isSynced: false } as const;
  }

  /** Times taken at the server; undefined where it does not answer. */
  async #busy(
    start: Date,
    exceptId: string,
    signal: AbortSignal,
  ): Promise<readonly TimeSpan[] | undefined> {
    if (this.#server === undefined) return [];
    let busy: readonly TimeSpan[] = [];
    const ask = async (server: CalendarServer, limit: AbortSignal) => {
      busy = await server.busy(this.#searched(start), exceptId, limit);
    };
    const isKnown = await this.#tell(ask, signal);
    return isKnown ? busy : undefined;
  }

  /** @returns false where the server did not do it in time. */
  async #tell(
    ask: (server: CalendarServer, signal: AbortSignal) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { clock, log } = this.#parts;
    if (this.#server === undefined) return true;
    const reason = 'the calendar server took too long';
    using limit = new TimeLimit(clock, SERVER_MS_MAX, { reason, ...(signal && { signal }) });
    try {
      await unlessAborted(ask(this.#server, limit.signal), limit.signal);
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      if (!limit.isOver && !(error instanceof CalendarServerError)) throw error;
      const { name } = this.#calendar;
      const why = error instanceof CalendarServerError ? error.message : reason;
      log.warn({ calendar: name, callId: this.#call.id, reason: why }, 'calendar did not answer');
      return false;
    }
  }

  /** @param busy taken times; undefined when they are unknown: no slot is offered then. */
  async #refused(
    reason: string,
    { start, end }: TimeSpan,
    busy: readonly TimeSpan[] | undefined,
  ): Promise<DeskOutcome> {
    if (busy === undefined) return { kind: 'refused', reason, offers: [] };
    const held = await this.#parts.appointments.holding(this.#calendar, this.#searched(start));
    const minutes = Math.round((end.getTime() - start.getTime()) / 60_000);
    const taken = [...busy, ...held.flatMap(heldSpans)];
    const now = this.#parts.clock.now();
    const wanted = { from: start, minutes, count: OFFERS, busy: taken, now };
    return { kind: 'refused', reason, offers: freeSlots(wanted, this.#calendar) };
  }

  /** Span to search for a start; a past start counts as now, since a model may have the year wrong. */
  #searched(start: Date): TimeSpan {
    const now = this.#parts.clock.now();
    return searchedSpan(start < now ? now : start);
  }
}

function bookedOutcome(appointment: BookedAppointment): DeskOutcome {
  return { kind: appointment.status === 'open' ? 'noted' : 'done', appointment };
}
