/** Open SIP dialogs in SQLite, answered and not yet: a process ends those that a dead one left. */
import type { DialogStore, OpenDialog } from '../../domain/call/open-dialog.ts';
import type { Queries } from '../queries.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';

/** More than a machine has at a time. */
const DIALOGS_MAX = 100_000;

/** Keeps open dialogs in SQLite. */
export class SqliteDialogStore implements DialogStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async save(dialog: OpenDialog): Promise<void> {
    await this.#database.run(build.replaceInto('open_dialogs').values(rowOf(dialog)));
  }

  async remove(id: string): Promise<void> {
    await this.#database.run(build.deleteFrom('open_dialogs').where('id', '=', id));
  }

  async all(): Promise<readonly OpenDialog[]> {
    const query = build.selectFrom('open_dialogs').selectAll();
    return (
      await this.#database.all(query.orderBy('opened_at').orderBy('id').limit(DIALOGS_MAX))
    ).map((row) => recordOf<OpenDialog>(row, { json: ['routes', 'channels', 'invite'] }));
  }
}
