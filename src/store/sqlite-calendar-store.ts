/** Calendars and their appointments in SQLite. */
import { sql } from 'kysely';
import type { Scope } from '../domain/agent/agent.ts';
import type {
  AppointmentStore,
  BookedAppointment,
  CalendarKey,
} from '../domain/calendar/appointment.ts';
import { CALENDAR_LIMITS, type Calendar, type CalendarStore } from '../domain/calendar/calendar.ts';
import type { TimeSpan } from '../domain/calendar/slots.ts';
import type { Page, PageRange } from '../domain/ids.ts';
import { conflict } from '../domain/service-error.ts';
import type { SecretBox } from '../lib/secrets.ts';
import { allOf, firstOf, inScope, pageOf, type Queries, SqliteStore } from './queries.ts';
import { NamedRecords } from './sqlite/named-records.ts';
import { readerOf, rowOf } from './sqlite/rows.ts';
import { build } from './sqlite/schema.ts';

/** Keeps calendars in SQLite. */
export class SqliteCalendarStore extends NamedRecords<Calendar> implements CalendarStore {
  constructor(database: Queries, box: SecretBox) {
    const format = { json: ['workingHours'] } as const;
    const limit = { kind: 'calendar', max: CALENDAR_LIMITS.calendarsMax };
    super(database, { table: 'calendars', box, format, ...limit, release: deleteAppointments });
  }

  async findByFeedToken(token: string): Promise<Calendar | undefined> {
    const query = build.selectFrom('calendars').selectAll().where('feed_token', '=', token);
    return (await this.read(query))[0];
  }
}

/** @throws {ServiceError} CONFLICT when an agent uses the calendar, or appointments in it are still to come. */
async function deleteAppointments(
  transaction: Queries,
  scope: Scope,
  name: string,
  now: Date,
): Promise<void> {
  const agents = build.selectFrom('agents').select('name').where(inScope(scope));
  const user = await transaction.get(agents.where('calendar', '=', name).limit(1));
  if (user !== undefined) {
    throw conflict(`Cannot delete the calendar "${name}": the agent "${user.name}" uses it`);
  }
  const appointments = build
    .selectFrom('appointments')
    .select('id')
    .where(inScope(scope))
    .where('calendar', '=', name);
  const upcoming = appointments.where('ends_at', '>', now.getTime());
  const kept = upcoming.where('status', '<>', 'cancelled').limit(1);
  if ((await transaction.get(kept)) !== undefined) {
    throw conflict(`Cannot delete the calendar "${name}": it has appointments to come`);
  }
  await transaction.run(build.deleteFrom('appointments').where('id', 'in', appointments));
}

/** Most rows read at a time; two weeks of five-minute slots. */
const READ_MAX = 5000;

/** Keeps appointments in SQLite. */
export class SqliteAppointmentStore extends SqliteStore implements AppointmentStore {
  async insert(appointment: BookedAppointment): Promise<void> {
    await this.database.run(build.insertInto('appointments').values(rowOf(appointment)));
  }

  async update(appointment: BookedAppointment): Promise<void> {
    const changed = build.updateTable('appointments').set(rowOf(appointment));
    await this.database.run(changed.where('id', '=', appointment.id));
  }

  async find(id: string): Promise<BookedAppointment | undefined> {
    const query = build.selectFrom('appointments').selectAll().where('id', '=', id);
    return firstOf(this.database, query, appointmentOf);
  }

  holding(key: CalendarKey, { start, end }: TimeSpan): Promise<readonly BookedAppointment[]> {
    const [startMs, endMs] = [start.getTime(), end.getTime()];
    return this.#read(
      appointmentsOf(key)
        .where(sql<boolean>`(starts_at < ${endMs} and ends_at > ${startMs}
          or previous_starts_at < ${endMs} and previous_ends_at > ${startMs})`)
        .where(sql<boolean>`status <> 'cancelled' and reason is not 'taken'`),
    );
  }

  upcomingOf(key: CalendarKey, phone: string, now: Date): Promise<readonly BookedAppointment[]> {
    return this.#read(
      appointmentsOf(key)
        .where('attendee_phone', '=', phone)
        .where('starts_at', '>', now.getTime())
        .where('status', '<>', 'cancelled'),
    );
  }

  ofCall(callId: string): Promise<readonly BookedAppointment[]> {
    return this.#read(build.selectFrom('appointments').where('call_id', '=', callId));
  }

  list(
    key: CalendarKey,
    { from, ...range }: PageRange & { readonly from: Date },
  ): Promise<Page<BookedAppointment>> {
    const every = appointmentsOf(key).where('starts_at', '>=', from.getTime());
    const sorted = every.selectAll().orderBy('starts_at').orderBy('id');
    return pageOf(this.database, { every, sorted, range }, appointmentOf);
  }

  async unsynced(query: {
    readonly now: Date;
    readonly before: Date;
    readonly limit: number;
  }): Promise<readonly BookedAppointment[]> {
    const rows = build
      .selectFrom('appointments')
      .selectAll()
      // The same condition as in the index `appointments_unsynced`.
      .where('is_synced', '=', sql.lit(0))
      .where('updated_at', '<', query.before.getTime())
      .where('starts_at', '>', query.now.getTime())
      .orderBy('updated_at')
      .limit(query.limit);
    return allOf(this.database, rows, appointmentOf);
  }

  async #read(selected: ReturnType<typeof appointmentsOf>): Promise<readonly BookedAppointment[]> {
    const query = selected.selectAll().orderBy('starts_at').limit(READ_MAX);
    return allOf(this.database, query, appointmentOf);
  }
}

function appointmentsOf(key: CalendarKey) {
  return build.selectFrom('appointments').where(inScope(key)).where('calendar', '=', key.name);
}

const appointmentOf = readerOf<BookedAppointment>({ flags: ['isSynced'] });
