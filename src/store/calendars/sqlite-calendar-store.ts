/** Calendars in SQLite. */
import type { Scope } from '../../domain/agent/agent.ts';
import {
  CALENDAR_LIMITS,
  type Calendar,
  type CalendarStore,
} from '../../domain/calendar/calendar.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Queries } from '../queries.ts';
import { type RowOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';
import { opened, sealed } from '../sqlite/sealed-columns.ts';

/** Keeps calendars in SQLite. */
export class SqliteCalendarStore implements CalendarStore {
  readonly #database: Queries;
  readonly #box: SecretBox;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    this.#box = box;
  }

  async insert(calendar: Calendar): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const store = new SqliteCalendarStore(transaction, this.#box);
      const { name } = calendar;
      if ((await store.find(calendar, name)) !== undefined) {
        throw conflict(`Cannot make the calendar "${name}": there is one with this name`);
      }
      if ((await countOf(transaction, calendar)) >= CALENDAR_LIMITS.calendarsMax) {
        const { calendarsMax } = CALENDAR_LIMITS;
        throw conflict(`Cannot make the calendar: there are ${calendarsMax} already`);
      }
      await transaction.run(
        build.insertInto('calendars').values(sealed(this.#box, 'calendars', rowOf(calendar))),
      );
    });
  }

  async update(calendar: Calendar): Promise<void> {
    await this.#database.run(
      build
        .updateTable('calendars')
        .set(sealed(this.#box, 'calendars', rowOf(calendar)))
        .where('account_id', '=', calendar.accountId)
        .where('environment', '=', calendar.environment)
        .where('name', '=', calendar.name),
    );
  }

  async delete(scope: Scope, name: string, now: Date): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const user = await transaction.get(userOf(scope, name));
      if (user !== undefined) {
        throw conflict(`Cannot delete the calendar "${name}": the agent "${user.name}" uses it`);
      }
      const upcoming = appointmentsIn(scope, name).where('ends_at', '>', now.getTime());
      const kept = upcoming.select('id').where('status', '<>', 'cancelled').limit(1);
      if ((await transaction.get(kept)) !== undefined) {
        throw conflict(`Cannot delete the calendar "${name}": it has appointments to come`);
      }
      const ids = appointmentsIn(scope, name).select('id');
      await transaction.run(build.deleteFrom('appointments').where('id', 'in', ids));
      await transaction.run(
        build
          .deleteFrom('calendars')
          .where('account_id', '=', scope.accountId)
          .where('environment', '=', scope.environment)
          .where('name', '=', name),
      );
    });
  }

  async find(scope: Scope, name: string): Promise<Calendar | undefined> {
    const row = await this.#database.get(calendarsOf(scope).selectAll().where('name', '=', name));
    return row === undefined ? undefined : calendarOf(this.#box, row);
  }

  async findByFeedToken(token: string): Promise<Calendar | undefined> {
    const query = build.selectFrom('calendars').selectAll().where('feed_token', '=', token);
    const row = await this.#database.get(query);
    return row === undefined ? undefined : calendarOf(this.#box, row);
  }

  async list(
    scope: Scope,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly calendars: readonly Calendar[]; readonly total: number }> {
    const page = calendarsOf(scope).selectAll().orderBy('name').limit(limit).offset(offset);
    return {
      calendars: (await this.#database.all(page)).map((row) => calendarOf(this.#box, row)),
      total: await countOf(this.#database, scope),
    };
  }
}

async function countOf(database: Queries, scope: Scope): Promise<number> {
  const count = calendarsOf(scope).select((expression) => expression.fn.countAll<number>().as('n'));
  return (await database.get(count))?.n ?? 0;
}

function calendarsOf({ accountId, environment }: Scope) {
  return build
    .selectFrom('calendars')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment);
}

/** An agent that books in it. */
function userOf({ accountId, environment }: Scope, name: string) {
  return build
    .selectFrom('agents')
    .select('name')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment)
    .where('calendar', '=', name)
    .limit(1);
}

function appointmentsIn({ accountId, environment }: Scope, name: string) {
  return build
    .selectFrom('appointments')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment)
    .where('calendar', '=', name);
}

function calendarOf(box: SecretBox, row: RowOf<Calendar>): Calendar {
  return recordOf<Calendar>(opened(box, 'calendars', row), { json: ['workingHours'] });
}

function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', message);
}
