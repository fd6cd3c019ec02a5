/** Erases from a restored database the calls that were erased since its backup was made. */
import Sqlite from 'better-sqlite3';
import { sql } from 'kysely';
import { type CallStatus, isOver } from '../../domain/call/call.ts';
import { CallErasure } from '../accounts/call-erasure.ts';
import {
  ERASED_CALL_COLUMNS,
  ERASURE_COLUMNS,
  type ErasedCallRow,
  type ErasureRow,
  type NotedErasureRow,
} from '../accounts/erasure-rows.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';

/** What a database knows of erasures. */
export interface KnownErasures {
  readonly erasures: readonly ErasureRow[];
  readonly calls: readonly ErasedCallRow[];
  /** To be erased when they are over. */
  readonly noted: readonly NotedErasureRow[];
}

const NONE: KnownErasures = { erasures: [], calls: [], noted: [] };

/** Reads them from a database that nobody works on; none where it is of an older version. @throws {Error} when it cannot be read. */
export function readErasures(file: string): KnownErasures {
  const sqlite = new Sqlite(file, { fileMustExist: true });
  try {
    const has = sqlite.prepare("select 1 from sqlite_master where name = 'erased_calls'").get();
    if (has === undefined) return NONE;
    const all = <Row>(columns: readonly string[], table: string) =>
      sqlite.prepare<[], Row>(`select ${columns.join()} from ${table}`).all();
    return {
      erasures: all<ErasureRow>(ERASURE_COLUMNS, 'erasures'),
      calls: all<ErasedCallRow>(ERASED_CALL_COLUMNS, 'erased_calls'),
      noted: all<NotedErasureRow>(['call_id', 'erasure_id'], 'noted_erasures'),
    };
  } finally {
    sqlite.close();
  }
}

/**
 * Erases what others have erased. Tombstones are kept, so that the next restore knows of them too; a call that is in
 * progress in the backup is erased by the server once it has put its end on record.
 *
 * @returns how many calls were erased, or will be.
 */
export function eraseAgain(database: Database, known: KnownErasures): number {
  const erasure = new CallErasure(database);
  const statements = prepare(database);
  return database.write(() => {
    for (const row of known.erasures) statements.addErasure.run(row);
    let count = 0;
    for (const row of known.calls) {
      const call = erasure.find(row.call_id);
      statements.addTombstone.run(row);
      if (call === undefined) continue;
      count += 1;
      if (!isOver(call.status as CallStatus)) note(row);
      else erasure.erase(row.call_id, { tombstone: buried(row) });
    }
    for (const row of known.noted) {
      if (erasure.find(row.call_id) === undefined) continue;
      count += 1;
      note(row);
    }
    return count;
  });

  function note(row: NotedErasureRow): void {
    statements.note.run(row);
    statements.reopen.run({ id: row.erasure_id });
  }
}

function buried({ erasure_id: erasureId, erased_at }: ErasedCallRow) {
  return { erasureId, now: new Date(erased_at) };
}

function prepare(database: Database) {
  return {
    addErasure: database.prepare((take: Take<ErasureRow>) =>
      build.insertInto('erasures').orIgnore().values(takeAll(take, ERASURE_COLUMNS)),
    ),
    addTombstone: database.prepare((take: Take<ErasedCallRow>) =>
      build.insertInto('erased_calls').orIgnore().values(takeAll(take, ERASED_CALL_COLUMNS)),
    ),
    note: database.prepare((take: Take<NotedErasureRow>) =>
      build
        .insertInto('noted_erasures')
        .orIgnore()
        .values(takeAll(take, ['call_id', 'erasure_id'])),
    ),
    reopen: database.prepare((take: Take<{ id: string }>) =>
      build
        .updateTable('erasures')
        .set({ finished_at: sql<null>`null` })
        .where('id', '=', take('id')),
    ),
  };
}
