/** Calendars in SQLite. */
import type { Scope } from '../../domain/agent/agent.ts';
import {
  CALENDAR_LIMITS,
  type Calendar,
  type CalendarStore,
} from '../../domain/calendar/calendar.ts';
import type { PageRange } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import { inScope, type Queries } from '../queries.ts';
import { NamedRecords } from '../sqlite/named-records.ts';
import { build } from '../sqlite/schema.ts';

/** Keeps calendars in SQLite. */
export class SqliteCalendarStore implements CalendarStore {
  readonly #database: Queries;
  readonly #box: SecretBox;
  readonly #calendars: NamedRecords<Calendar>;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    this.#box = box;
    this.#calendars = calendarsIn(database, box);
  }

  async insert(calendar: Calendar): Promise<void> {
    const { name } = calendar;
    const { calendarsMax } = CALENDAR_LIMITS;
    await this.#database.transaction(async (transaction) => {
      const calendars = calendarsIn(transaction, this.#box);
      if ((await calendars.find(calendar, name)) !== undefined) {
        throw conflict(`Cannot make the calendar "${name}": there is one with this name`);
      }
      if ((await calendars.count(calendar)) >= calendarsMax) {
        throw conflict(`Cannot make the calendar: there are ${calendarsMax} already`);
      }
      await calendars.insert(calendar);
    });
  }

  update(calendar: Calendar): Promise<void> {
    return this.#calendars.update(calendar);
  }

  async delete(scope: Scope, name: string, now: Date): Promise<void> {
    const agents = build.selectFrom('agents').select('name').where(inScope(scope));
    const appointments = build
      .selectFrom('appointments')
      .select('id')
      .where(inScope(scope))
      .where('calendar', '=', name);
    await this.#database.transaction(async (transaction) => {
      const user = await transaction.get(agents.where('calendar', '=', name).limit(1));
      if (user !== undefined) {
        throw conflict(`Cannot delete the calendar "${name}": the agent "${user.name}" uses it`);
      }
      const upcoming = appointments.where('ends_at', '>', now.getTime());
      const kept = upcoming.where('status', '<>', 'cancelled').limit(1);
      if ((await transaction.get(kept)) !== undefined) {
        throw conflict(`Cannot delete the calendar "${name}": it has appointments to come`);
      }
      await transaction.run(build.deleteFrom('appointments').where('id', 'in', appointments));
      await calendarsIn(transaction, this.#box).delete(scope, name);
    });
  }

  find(scope: Scope, name: string): Promise<Calendar | undefined> {
    return this.#calendars.find(scope, name);
  }

  async findByFeedToken(token: string): Promise<Calendar | undefined> {
    const query = build.selectFrom('calendars').selectAll().where('feed_token', '=', token);
    return (await this.#calendars.read(query))[0];
  }

  async list(
    scope: Scope,
    page: PageRange,
  ): Promise<{ readonly calendars: readonly Calendar[]; readonly total: number }> {
    const { records: calendars, total } = await this.#calendars.page(scope, page);
    return { calendars, total };
  }
}

function calendarsIn(database: Queries, box: SecretBox): NamedRecords<Calendar> {
  return new NamedRecords(database, {
    table: 'calendars',
    box,
    format: { json: ['workingHours'] },
  });
}

function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', message);
}
