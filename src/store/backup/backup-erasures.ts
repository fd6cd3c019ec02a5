/** Erases from a restored database the calls that were erased since its backup was made. */
import Sqlite from 'better-sqlite3';
import { type CallStatus, isOver } from '../../domain/call/call.ts';
import { CallErasure } from '../accounts/call-erasure.ts';
import type { Database } from '../sqlite/database.ts';
import {
  build,
  type ErasedCallRow,
  type ErasureRow,
  type NotedErasureRow,
} from '../sqlite/schema.ts';

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
    const all = <Row>(table: string) => sqlite.prepare<[], Row>(`select * from ${table}`).all();
    return {
      erasures: all<ErasureRow>('erasures'),
      calls: all<ErasedCallRow>('erased_calls'),
      noted: all<NotedErasureRow>('noted_erasures'),
    };
  } finally {
    sqlite.close();
  }
}

/**
 * Erases the calls that another database knows to be erased. Tombstones are kept for the next restore; a call that is in
 * progress in the backup is erased by the server once its end is recorded.
 *
 * @returns how many calls were erased, or will be.
 */
export function eraseAgain(database: Database, known: KnownErasures): number {
  const erasure = new CallErasure(database);
  return database.write(() => {
    for (const row of known.erasures) {
      database.run(build.insertInto('erasures').orIgnore().values(row));
    }
    let count = 0;
    for (const row of known.calls) {
      const call = erasure.find(row.call_id);
      database.run(build.insertInto('erased_calls').orIgnore().values(row));
      if (call === undefined) continue;
      count += 1;
      const tombstone = { erasureId: row.erasure_id, now: new Date(row.erased_at) };
      if (isOver(call.status as CallStatus)) erasure.erase(row.call_id, { tombstone });
      else note(database, row);
    }
    for (const row of known.noted) {
      if (erasure.find(row.call_id) === undefined) continue;
      count += 1;
      note(database, row);
    }
    return count;
  });
}

/** Leaves the call for the server to erase. */
function note(database: Database, { call_id, erasure_id }: NotedErasureRow): void {
  const row = { call_id, erasure_id };
  database.run(build.insertInto('noted_erasures').orIgnore().values(row));
  const reopened = build.updateTable('erasures').set({ finished_at: null });
  database.run(reopened.where('id', '=', erasure_id));
}
