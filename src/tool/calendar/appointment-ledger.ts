/** State changes of appointments, each one transaction with the event that it causes. */
import {
  APPOINTMENTS_PER_CALL_MAX,
  APPOINTMENTS_PER_NUMBER_MAX,
  type BookedAppointment,
  heldSpans,
  isKnownNumber,
  type OpenReason,
  reported,
} from '../../domain/calendar/appointment.ts';
import type { Calendar } from '../../domain/calendar/calendar.ts';
import { isFree, type TimeSpan } from '../../domain/calendar/slots.ts';
import { appointmentBookedEvent } from '../../domain/call/call-events.ts';
import { laterThan, type NewId } from '../../domain/ids.ts';
import type { RunTransaction, Stores } from '../../domain/stores.ts';
import { type Clock, HOUR_MS } from '../../lib/clock.ts';

/** Why a time could not be taken, for a sentence. */
export type TakeRefusal = 'that time is taken' | 'this caller has too many appointments already';

/** Why an appointment could not be moved, for a sentence. */
export type MoveRefusal = 'that time is taken' | 'it has changed meanwhile';

/** Dependencies of the ledger. */
export interface LedgerParts {
  readonly transaction: RunTransaction;
  readonly newId: NewId;
  readonly clock: Clock;
}

/** Writes appointments. */
export class AppointmentLedger {
  readonly #parts: LedgerParts;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  /**
   * Takes the time of a new appointment, unless it is held meanwhile. A pending one causes no event yet.
   *
   * @param busy times that are taken at the calendar server.
   * @returns why not; undefined where it was taken.
   */
  take(
    calendar: Calendar,
    appointment: BookedAppointment,
    busy: readonly TimeSpan[],
  ): Promise<TakeRefusal | undefined> {
    return this.#parts.transaction(async (stores) => {
      if (await hasTooMany(stores, calendar, appointment)) {
        return 'this caller has too many appointments already';
      }
      if (!(await isFreeNow(stores, calendar, appointment, busy))) return 'that time is taken';
      await stores.appointments.insert(appointment);
      if (appointment.status !== 'pending') await this.#report(stores, appointment);
      return undefined;
    });
  }

  /** Confirms an appointment that the calendar server has. */
  confirm(appointment: BookedAppointment): Promise<BookedAppointment> {
    const change = { status: 'confirmed', reason: null, isSynced: true } as const;
    return this.#save(appointment, change, { isReported: true });
  }

  /** Keeps it as a wish that is not in the calendar. */
  note(appointment: BookedAppointment, reason: OpenReason): Promise<BookedAppointment> {
    const change = { status: 'open', reason, isSynced: reason === 'taken' } as const;
    // A wish that was reported already is not reported again.
    return this.#save(appointment, change, { isReported: isNew(appointment) });
  }

  /**
   * Moves it, and holds the time before until `moved` or `movedBack`, where the server has yet to agree.
   *
   * @returns the appointment, or why it was not moved.
   */
  move(
    calendar: Calendar,
    appointment: BookedAppointment,
    to: { readonly span: TimeSpan; readonly busy: readonly TimeSpan[]; readonly isFinal: boolean },
  ): Promise<BookedAppointment | MoveRefusal> {
    const { span, busy, isFinal } = to;
    const wished = { ...appointment, startsAt: span.start, endsAt: span.end };
    const before = {
      previousStartsAt: appointment.startsAt,
      previousEndsAt: appointment.endsAt,
    };
    const isWish = appointment.status === 'open';
    return this.#parts.transaction(async (stores) => {
      const kept = await stores.appointments.find(appointment.id);
      if (kept === undefined || !isSameState(kept, appointment)) return 'it has changed meanwhile';
      if (!(await isFreeNow(stores, calendar, wished, busy))) return 'that time is taken';
      const saved = this.#changed({
        ...wished,
        ...(isFinal ? {} : before),
        // The server is tried with the new time, also where the time before was taken.
        ...(isWish ? { reason: 'unreachable' as const } : {}),
        isSynced: isFinal && !isWish,
      });
      await stores.appointments.update(saved);
      if (isFinal) await this.#report(stores, saved);
      return saved;
    });
  }

  /** The server has the new time. */
  moved(appointment: BookedAppointment): Promise<BookedAppointment> {
    return this.#save(
      appointment,
      { ...NO_TIME_BEFORE, isSynced: true },
      {
        isReported: true,
      },
    );
  }

  /** Undoes a move. The server may have seen it, so the former time is sent to the server again. */
  movedBack(appointment: BookedAppointment): Promise<BookedAppointment> {
    const { previousStartsAt, previousEndsAt, startsAt, endsAt } = appointment;
    const before = { startsAt: previousStartsAt ?? startsAt, endsAt: previousEndsAt ?? endsAt };
    return this.#save(appointment, { ...before, ...NO_TIME_BEFORE, isSynced: false });
  }

  /** Cancels it in any state. @param isSynced whether the calendar server needs no update. */
  cancel(appointment: BookedAppointment, isSynced: boolean): Promise<BookedAppointment> {
    return this.#parts.transaction(async ({ appointments }) => {
      const kept = (await appointments.find(appointment.id)) ?? appointment;
      const off = { ...NO_TIME_BEFORE, status: 'cancelled', reason: null, isSynced } as const;
      const saved = this.#changed({ ...kept, ...off });
      await appointments.update(saved);
      return saved;
    });
  }

  /** Notes that the server is up to date. */
  async synced(appointment: BookedAppointment): Promise<void> {
    await this.#save(appointment, { isSynced: true });
  }

  /** The server did not answer: others are tried before it. */
  async tried(appointment: BookedAppointment): Promise<void> {
    await this.#save(appointment, {});
  }

  /**
   * Saves the result of a request to the server. Where a call or a round has changed the record since it was read, the
   * record stays, and the server is updated again.
   */
  #save(
    read: BookedAppointment,
    change: Partial<BookedAppointment>,
    { isReported = false } = {},
  ): Promise<BookedAppointment> {
    return this.#parts.transaction(async (stores) => {
      const kept = await stores.appointments.find(read.id);
      // Erased meanwhile.
      if (kept === undefined) return read;
      const isCurrent = isSameState(kept, read);
      const saved = this.#changed(
        isCurrent ? { ...read, ...change } : { ...kept, isSynced: false },
      );
      await stores.appointments.update(saved);
      if (isCurrent && isReported) await this.#report(stores, saved);
      return saved;
    });
  }

  #changed(appointment: BookedAppointment): BookedAppointment {
    const updatedAt = laterThan(appointment.updatedAt, this.#parts.clock.now());
    return { ...appointment, updatedAt };
  }

  /** An erased call has no events any more. */
  async #report(stores: Stores, appointment: BookedAppointment): Promise<void> {
    const { clock, newId } = this.#parts;
    const stamp = { id: newId('evt'), now: clock.now() };
    await stores.calls.change(appointment.callId, (call) => ({
      call,
      events: [appointmentBookedEvent(call, reported(appointment), stamp)],
    }));
  }
}

const NO_TIME_BEFORE = { previousStartsAt: null, previousEndsAt: null };

/** Every change has a later `updatedAt`. */
function isSameState(one: BookedAppointment, other: BookedAppointment): boolean {
  return one.updatedAt.getTime() === other.updatedAt.getTime();
}

function isNew({ status }: BookedAppointment): boolean {
  return status === 'pending';
}

async function isFreeNow(
  { appointments }: Pick<Stores, 'appointments'>,
  calendar: Calendar,
  { id, startsAt, endsAt }: BookedAppointment,
  busy: readonly TimeSpan[],
): Promise<boolean> {
  const around = {
    start: new Date(startsAt.getTime() - 24 * HOUR_MS),
    end: new Date(endsAt.getTime() + 24 * HOUR_MS),
  };
  const held = await appointments.holding(calendar, around);
  const others = held.filter((other) => other.id !== id).flatMap(heldSpans);
  const span = { start: startsAt, end: endsAt };
  return isFree(span, [...busy, ...others], calendar.bufferMinutes);
}

/** Limits the appointments of a caller who talks an agent into booking. */
async function hasTooMany(
  { appointments }: Pick<Stores, 'appointments'>,
  calendar: Calendar,
  { attendeePhone, callId, createdAt }: BookedAppointment,
): Promise<boolean> {
  if ((await appointments.ofCall(callId)).length >= APPOINTMENTS_PER_CALL_MAX) return true;
  if (!isKnownNumber(attendeePhone)) return false;
  const upcoming = await appointments.upcomingOf(calendar, attendeePhone, createdAt);
  return upcoming.length >= APPOINTMENTS_PER_NUMBER_MAX;
}
