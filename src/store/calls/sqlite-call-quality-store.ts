/** How well the packets of calls travelled, in SQLite. */

import type { CallQuality, CallQualityStore } from '../../domain/call/call-life.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import type { CallQualityRow } from './quality-rows.ts';

const COLUMNS = ['call_id', 'codec', 'local', 'remote', 'mos'] as const;

function prepareQualities(database: Database) {
  return {
    save: database.prepare((take: Take<CallQualityRow>) =>
      build.replaceInto('call_qualities').values(takeAll(take, COLUMNS)),
    ),
    find: database.prepare((take: Take<{ callId: string }>) =>
      build.selectFrom('call_qualities').selectAll().where('call_id', '=', take('callId')),
    ),
  };
}

export class SqliteCallQualityStore implements CallQualityStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareQualities>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareQualities(database);
  }

  save(callId: string, { codec, local, remote, mos }: CallQuality): void {
    const row: CallQualityRow = {
      ...{ call_id: callId, codec, mos },
      local: JSON.stringify(local),
      remote: remote === null ? null : JSON.stringify(remote),
    };
    this.#database.write(() => this.#statements.save.run(row));
  }

  find(callId: string): CallQuality | undefined {
    const row = this.#database.read(() => this.#statements.find.all({ callId })[0]);
    if (row === undefined) return undefined;
    const { codec, local, remote, mos } = row;
    const theirs = remote === null ? null : JSON.parse(remote);
    // Calls that were saved before this was counted lack it.
    const ours = { packetsUnsent: 0, ...JSON.parse(local) };
    return { codec, local: ours, remote: theirs, mos };
  }
}
