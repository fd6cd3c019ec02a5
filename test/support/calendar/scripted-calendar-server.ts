/** A calendar server in memory that fails as the test says. */
import {
  type BookedAppointment,
  type CalendarServer,
  CalendarServerError,
} from '../../../src/domain/calendar/appointment.ts';
import type { TimeSpan } from '../../../src/domain/calendar/slots.ts';

/** `lost`: it does what it is asked, and the answer is lost. `dead`: neither an answer nor an error, ever. */
type Mode = 'up' | 'down' | 'lost' | 'dead';

export class ScriptedCalendarServer implements CalendarServer {
  mode: Mode = 'up';
  /** Of `put` and `remove` alone; that of everything unless given. */
  writeMode: Mode | undefined;
  /** By appointment. */
  readonly events = new Map<string, TimeSpan>();
  readonly others: TimeSpan[] = [];
  writes = 0;
  /** Before a write takes effect. */
  onWrite: (id: string) => Promise<void> | void = () => undefined;

  /** Before the taken times are told. */
  onBusy: () => Promise<void> | void = () => undefined;

  async busy(span: TimeSpan, exceptId: string): Promise<readonly TimeSpan[]> {
    await this.onBusy();
    await this.#pass(this.mode);
    const others = [...this.events].flatMap(([id, at]) => (id === exceptId ? [] : [at]));
    return [...this.others, ...others].filter(
      ({ start, end }) => start < span.end && span.start < end,
    );
  }

  async put({ id, startsAt, endsAt }: BookedAppointment): Promise<void> {
    await this.#write(id, () => this.events.set(id, { start: startsAt, end: endsAt }));
  }

  async remove({ id }: BookedAppointment): Promise<void> {
    await this.#write(id, () => this.events.delete(id));
  }

  get starts(): readonly string[] {
    return [...this.events.values()].map(({ start }) => start.toISOString());
  }

  async #write(id: string, deed: () => void): Promise<void> {
    const mode = this.writeMode ?? this.mode;
    this.writes += 1;
    await this.onWrite(id);
    if (mode === 'up' || mode === 'lost') deed();
    await this.#pass(mode);
  }

  async #pass(mode: Mode): Promise<void> {
    if (mode === 'dead') await new Promise<never>(() => undefined);
    if (mode !== 'up') throw new CalendarServerError('no answer: ECONNREFUSED');
  }
}
