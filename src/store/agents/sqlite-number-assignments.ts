/** Which telephone numbers the operator has assigned to which account, in SQLite. */
import type { NumberAssignment, NumberAssignments } from '../../domain/dialing/number-owner.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type NumberAssignmentRow } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';

const COLUMNS = ['number', 'account_id', 'assigned_at', 'assigned_by'] as const;

function prepareAssignments(database: Database) {
  return {
    find: database.prepare((take: Take<{ number: string }>) =>
      build.selectFrom('number_assignments').select(COLUMNS).where('number', '=', take('number')),
    ),
    list: database.prepare(() =>
      build.selectFrom('number_assignments').select(COLUMNS).orderBy('number'),
    ),
    save: database.prepare((take: Take<NumberAssignmentRow>) =>
      build.replaceInto('number_assignments').values(takeAll(take, COLUMNS)),
    ),
    remove: database.prepare((take: Take<{ number: string }>) =>
      build.deleteFrom('number_assignments').where('number', '=', take('number')),
    ),
  };
}

export class SqliteNumberAssignments implements NumberAssignments {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareAssignments>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareAssignments(database);
  }

  find(number: string): NumberAssignment | undefined {
    const row = this.#database.read(() => this.#statements.find.get({ number }));
    return row === undefined ? undefined : assignmentOf(row);
  }

  list(): readonly NumberAssignment[] {
    return this.#database.read(() => this.#statements.list.all({})).map(assignmentOf);
  }

  save({ number, accountId, assignedAt, assignedBy }: NumberAssignment): void {
    const facts = { assigned_at: assignedAt.getTime(), assigned_by: assignedBy };
    const row = { number, account_id: accountId, ...facts };
    this.#database.together(() => this.#statements.save.run(row));
  }

  remove(number: string): boolean {
    return this.#database.together(() => this.#statements.remove.run({ number })) > 0;
  }
}

function assignmentOf(row: NumberAssignmentRow): NumberAssignment {
  return {
    number: row.number,
    accountId: row.account_id,
    assignedAt: new Date(row.assigned_at),
    assignedBy: row.assigned_by as NumberAssignment['assignedBy'],
  };
}
