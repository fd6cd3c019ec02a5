/** Telephone numbers in SQLite: assigned by the operator to accounts, and held by agents. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { NumberAssignment, NumberAssignments } from '../../domain/dialing/number-owner.ts';
import type { HeldNumber, NumberHolders } from '../../domain/dialing/phone-number.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type NumberAssignmentRow } from '../sqlite/schema.ts';

/** Keeps which account a number is assigned to. */
export class SqliteNumberAssignments implements NumberAssignments {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  findFirst(numbers: readonly string[]): NumberAssignment | undefined {
    const query = build.selectFrom('number_assignments').selectAll().where('number', 'in', numbers);
    const found = new Map(this.#database.all(query).map((row) => [row.number, row]));
    const first = numbers.find((number) => found.has(number));
    const row = first === undefined ? undefined : found.get(first);
    return row === undefined ? undefined : assignmentOf(row);
  }

  list(): readonly NumberAssignment[] {
    const query = build.selectFrom('number_assignments').selectAll().orderBy('number');
    return this.#database.all(query).map(assignmentOf);
  }

  save({ number, accountId, assignedAt, assignedBy }: NumberAssignment): void {
    const facts = { assigned_at: assignedAt.getTime(), assigned_by: assignedBy };
    const row = { number, account_id: accountId, ...facts };
    this.#database.run(build.replaceInto('number_assignments').values(row));
  }

  remove(number: string): boolean {
    const query = build.deleteFrom('number_assignments').where('number', '=', number);
    return this.#database.run(query) > 0;
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

/** Bound of a list; each number costs its owner money, so that no account comes near it. */
const NUMBERS_MAX = 10_000;

/** Reads which agent holds which number, without the agents' texts. */
export class SqliteNumberHolders implements NumberHolders {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  ofScope({ accountId, environment }: Scope): readonly HeldNumber[] {
    const query = holders()
      .where('account_id', '=', accountId)
      .where('environment', '=', environment);
    return this.#database.all(query).map(heldOf);
  }

  everyLive(): readonly HeldNumber[] {
    return this.#database.all(liveHolders()).map(heldOf);
  }

  liveHolderOf(number: string): HeldNumber | undefined {
    const row = this.#database.get(liveHolders().where('phone_number', '=', number));
    return row === undefined ? undefined : heldOf(row);
  }
}

function holders() {
  return build
    .selectFrom('agents')
    .select(['id', 'account_id', 'name', 'phone_number'])
    .where('phone_number', 'is not', null)
    .orderBy('phone_number')
    .limit(NUMBERS_MAX);
}

/** The literal is the condition of the index. */
function liveHolders() {
  return holders().where('environment', '=', sql.lit('live'));
}

interface HolderRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly phone_number: string | null;
}

function heldOf({ id, account_id: accountId, name, phone_number: number }: HolderRow): HeldNumber {
  return { number: number ?? '', agentId: id, agentName: name, accountId };
}
