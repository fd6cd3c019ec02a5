/** Trunks of the database in SQLite, and telephone numbers: assigned by the operator to accounts, and held by agents. */
import { sql } from 'kysely';
import type { Scope } from '../domain/agent/agent.ts';
import type { NumberAssignment, NumberAssignments } from '../domain/dialing/number-owner.ts';
import type { HeldNumber, NumberHolders } from '../domain/dialing/phone-number.ts';
import type { StoredTrunk, StoredTrunks } from '../domain/dialing/trunk.ts';
import type { SecretBox } from '../lib/secrets.ts';
import { inScope, type Queries } from './queries.ts';
import { type RowOf, recordOf, rowOf } from './sqlite/rows.ts';
import { build } from './sqlite/schema.ts';
import { opened, sealed } from './sqlite/sealed-columns.ts';

/** Most trunks, as in the trunk file. */
const TRUNKS_MAX = 1000;

/** Keeps trunks in SQLite. */
export class SqliteStoredTrunks implements StoredTrunks {
  readonly #database: Queries;
  readonly #box: SecretBox;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    this.#box = box;
  }

  async list(): Promise<readonly StoredTrunk[]> {
    const query = build.selectFrom('trunks').selectAll().orderBy('created_at').orderBy('name');
    return (await this.#database.all(query.limit(TRUNKS_MAX))).map((row) =>
      trunkOf(this.#box, row),
    );
  }

  async find(name: string): Promise<StoredTrunk | undefined> {
    const query = build.selectFrom('trunks').selectAll().where('name', '=', name);
    const row = await this.#database.get(query);
    return row === undefined ? undefined : trunkOf(this.#box, row);
  }

  async save(trunk: StoredTrunk): Promise<void> {
    await this.#database.run(
      build.replaceInto('trunks').values(sealed(this.#box, 'trunks', rowOf(trunk))),
    );
  }

  async remove(name: string): Promise<boolean> {
    const query = build.deleteFrom('trunks').where('name', '=', name);
    return (await this.#database.run(query)) > 0;
  }
}

function trunkOf(box: SecretBox, row: RowOf<StoredTrunk>): StoredTrunk {
  return recordOf<StoredTrunk>(opened(box, 'trunks', row), { json: ['settings'] });
}

/** Keeps which account a number is assigned to. */
export class SqliteNumberAssignments implements NumberAssignments {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async findFirst(numbers: readonly string[]): Promise<NumberAssignment | undefined> {
    const query = build.selectFrom('number_assignments').selectAll().where('number', 'in', numbers);
    const found = new Map((await this.#database.all(query)).map((row) => [row.number, row]));
    const first = numbers.find((number) => found.has(number));
    const row = first === undefined ? undefined : found.get(first);
    return row === undefined ? undefined : recordOf<NumberAssignment>(row);
  }

  async list(): Promise<readonly NumberAssignment[]> {
    const query = build.selectFrom('number_assignments').selectAll().orderBy('number');
    return (await this.#database.all(query)).map((row) => recordOf<NumberAssignment>(row));
  }

  async save(assignment: NumberAssignment): Promise<void> {
    const query = build.replaceInto('number_assignments').values(rowOf(assignment));
    await this.#database.run(query);
  }

  async remove(number: string): Promise<boolean> {
    const query = build.deleteFrom('number_assignments').where('number', '=', number);
    return (await this.#database.run(query)) > 0;
  }
}

/** Bound of a list; each number costs its owner money, so that no account comes near it. */
const NUMBERS_MAX = 10_000;

/** Reads which agent holds which number, without the agents' texts. */
export class SqliteNumberHolders implements NumberHolders {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async ofScope(scope: Scope): Promise<readonly HeldNumber[]> {
    return (await this.#database.all(holders().where(inScope(scope)))).map(heldOf);
  }

  async everyLive(): Promise<readonly HeldNumber[]> {
    return (await this.#database.all(liveHolders())).map(heldOf);
  }

  async liveHolderOf(number: string): Promise<HeldNumber | undefined> {
    const row = await this.#database.get(liveHolders().where('phone_number', '=', number));
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
