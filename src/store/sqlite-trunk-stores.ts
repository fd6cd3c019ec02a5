/** Trunks of the database in SQLite, and telephone numbers: assigned by the operator to accounts, and held by agents. */
import { sql } from 'kysely';
import type { Scope } from '../domain/agent/agent.ts';
import type { NumberAssignment, NumberAssignments } from '../domain/dialing/number-owner.ts';
import type { HeldNumber, NumberHolders } from '../domain/dialing/phone-number.ts';
import type { StoredTrunk, StoredTrunks } from '../domain/dialing/trunk.ts';
import type { SecretBox } from '../lib/secrets.ts';
import { allOf, firstOf, inScope, type Queries, SqliteStore } from './queries.ts';
import { type RowOf, recordOf, rowOf } from './sqlite/rows.ts';
import { build } from './sqlite/schema.ts';
import { opened, sealed } from './sqlite/sealed-columns.ts';

/** Most trunks, as in the trunk file. */
const TRUNKS_MAX = 1000;

/** Keeps trunks in SQLite. */
export class SqliteStoredTrunks extends SqliteStore implements StoredTrunks {
  readonly #box: SecretBox;

  constructor(database: Queries, box: SecretBox) {
    super(database);
    this.#box = box;
  }

  async list(): Promise<readonly StoredTrunk[]> {
    const query = build.selectFrom('trunks').selectAll().orderBy('created_at').orderBy('name');
    return allOf(this.database, query.limit(TRUNKS_MAX), (row) => this.#trunkOf(row));
  }

  async find(name: string): Promise<StoredTrunk | undefined> {
    const query = build.selectFrom('trunks').selectAll().where('name', '=', name);
    return firstOf(this.database, query, (row) => this.#trunkOf(row));
  }

  async save(trunk: StoredTrunk): Promise<void> {
    const row = sealed(this.#box, 'trunks', rowOf(trunk));
    await this.database.run(build.replaceInto('trunks').values(row));
  }

  async remove(name: string): Promise<boolean> {
    return (await this.database.run(build.deleteFrom('trunks').where('name', '=', name))) > 0;
  }

  #trunkOf(row: RowOf<StoredTrunk>): StoredTrunk {
    return recordOf<StoredTrunk>(opened(this.#box, 'trunks', row), { json: ['settings'] });
  }
}

/** Keeps which account a number is assigned to. */
export class SqliteNumberAssignments extends SqliteStore implements NumberAssignments {
  async findFirst(numbers: readonly string[]): Promise<NumberAssignment | undefined> {
    const query = build.selectFrom('number_assignments').selectAll().where('number', 'in', numbers);
    const found = await allOf(this.database, query, recordOf<NumberAssignment>);
    const first = numbers.find((wanted) => found.some(({ number }) => number === wanted));
    return found.find(({ number }) => number === first);
  }

  async list(): Promise<readonly NumberAssignment[]> {
    const query = build.selectFrom('number_assignments').selectAll().orderBy('number');
    return allOf(this.database, query, recordOf<NumberAssignment>);
  }

  async save(assignment: NumberAssignment): Promise<void> {
    const query = build.replaceInto('number_assignments').values(rowOf(assignment));
    await this.database.run(query);
  }

  async remove(number: string): Promise<boolean> {
    const query = build.deleteFrom('number_assignments').where('number', '=', number);
    return (await this.database.run(query)) > 0;
  }
}

/** Bound of a list; each number costs its owner money, so that no account comes near it. */
const NUMBERS_MAX = 10_000;

/** Reads which agent holds which number, without the agents' texts. */
export class SqliteNumberHolders extends SqliteStore implements NumberHolders {
  async ofScope(scope: Scope): Promise<readonly HeldNumber[]> {
    return allOf(this.database, holders().where(inScope(scope)), heldOf);
  }

  async everyLive(): Promise<readonly HeldNumber[]> {
    return allOf(this.database, liveHolders(), heldOf);
  }

  async liveHolderOf(number: string): Promise<HeldNumber | undefined> {
    return firstOf(this.database, liveHolders().where('phone_number', '=', number), heldOf);
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
