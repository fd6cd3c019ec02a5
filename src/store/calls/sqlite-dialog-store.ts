/** Open SIP dialogs in SQLite, answered and not yet: a process ends those that a dead one left. */
import type { DialogStore, OpenDialog } from '../../domain/call/open-dialog.ts';
import type { Queries } from '../queries.ts';
import { build, type OpenDialogRow } from '../sqlite/schema.ts';

/** More than a machine has at a time. */
const DIALOGS_MAX = 100_000;

/** Keeps open dialogs in SQLite. */
export class SqliteDialogStore implements DialogStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async save(dialog: OpenDialog): Promise<void> {
    await this.#database.run(build.replaceInto('open_dialogs').values(rowOfDialog(dialog)));
  }

  async remove(id: string): Promise<void> {
    await this.#database.run(build.deleteFrom('open_dialogs').where('id', '=', id));
  }

  async all(): Promise<readonly OpenDialog[]> {
    const query = build.selectFrom('open_dialogs').selectAll();
    return (
      await this.#database.all(query.orderBy('opened_at').orderBy('id').limit(DIALOGS_MAX))
    ).map(dialogOfRow);
  }
}

function rowOfDialog(dialog: OpenDialog): OpenDialogRow {
  return {
    id: dialog.id,
    sip_call_id: dialog.sipCallId,
    local_party: dialog.localParty,
    remote_party: dialog.remoteParty,
    remote_target: dialog.remoteTarget,
    routes: JSON.stringify(dialog.routes),
    sequence: dialog.sequence,
    channels: JSON.stringify(dialog.channels),
    opened_at: dialog.openedAt.getTime(),
    invite: dialog.invite === null ? null : JSON.stringify(dialog.invite),
  };
}

function dialogOfRow(row: OpenDialogRow): OpenDialog {
  return {
    id: row.id,
    sipCallId: row.sip_call_id,
    localParty: row.local_party,
    remoteParty: row.remote_party,
    remoteTarget: row.remote_target,
    routes: JSON.parse(row.routes),
    sequence: row.sequence,
    channels: JSON.parse(row.channels),
    openedAt: new Date(row.opened_at),
    invite: row.invite === null ? null : JSON.parse(row.invite),
  };
}
