/** The trunks of the database in SQLite. */
import type { StoredTrunk, StoredTrunks } from '../../domain/dialing/trunk.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Queries } from '../queries.ts';
import { type RowOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';
import { opened, sealed } from '../sqlite/sealed-columns.ts';

/** As many as the trunk file may have. */
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
