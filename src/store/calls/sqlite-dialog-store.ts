/** The SIP dialogs of calls, answered and not yet, in SQLite. */
import type { DialogStore, OpenDialog } from '../../domain/call/open-dialog.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { dialogOfRow, type OpenDialogRow, rowOfDialog } from './dialog-rows.ts';

/** More than any machine holds at a time. */
const DIALOGS_MAX = 100_000;

const COLUMNS = [
  'id',
  'sip_call_id',
  'local_party',
  'remote_party',
  'remote_target',
  'routes',
  'sequence',
  'channels',
  'opened_at',
  'invite',
] as const;

function prepareDialogs(database: Database) {
  return {
    save: database.prepare((take: Take<OpenDialogRow>) =>
      build.replaceInto('open_dialogs').values(takeAll(take, COLUMNS)),
    ),
    remove: database.prepare((take: Take<{ id: string }>) =>
      build.deleteFrom('open_dialogs').where('id', '=', take('id')),
    ),
    all: database.prepare((take: Take<{ limit: number }>) =>
      build
        .selectFrom('open_dialogs')
        .selectAll()
        .orderBy('opened_at')
        .orderBy('id')
        .limit(take('limit')),
    ),
  };
}

export class SqliteDialogStore implements DialogStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareDialogs>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareDialogs(database);
  }

  save(dialog: OpenDialog): void {
    this.#database.write(() => this.#statements.save.run(rowOfDialog(dialog)));
  }

  remove(id: string): void {
    this.#database.write(() => this.#statements.remove.run({ id }));
  }

  all(): readonly OpenDialog[] {
    return this.#database.read(() =>
      this.#statements.all.all({ limit: DIALOGS_MAX }).map(dialogOfRow),
    );
  }
}
