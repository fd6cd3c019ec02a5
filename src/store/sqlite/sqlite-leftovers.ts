/** What erasures leave to be done on the disk, in SQLite, and the database file's own part of it. */
import { sql } from 'kysely';
import type { Leftovers } from '../../domain/account/erasure.ts';
import type { LeftoverRow } from '../accounts/erasure-rows.ts';
import type { Checkpointer } from './checkpointer.ts';
import type { Database } from './database.ts';
import { build } from './schema.ts';
import type { Take } from './statement.ts';

function prepareLeftovers(database: Database) {
  return {
    list: database.prepare((take: Take<Pick<LeftoverRow, 'kind'> & { limit: number }>) =>
      build
        .selectFrom('erasure_leftovers')
        .select('name')
        .where('kind', '=', take('kind'))
        .limit(take('limit')),
    ),
    remove: database.prepare((take: Take<LeftoverRow>) =>
      build
        .deleteFrom('erasure_leftovers')
        .where('kind', '=', take('kind'))
        .where('name', '=', take('name')),
    ),
    size: database.prepare(() =>
      build
        .selectFrom(
          sql<{ bytes: number }>`(select page_count * page_size as bytes
            from pragma_page_count(), pragma_page_size())`.as('size'),
        )
        .selectAll(),
    ),
  };
}

export class SqliteLeftovers implements Leftovers {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareLeftovers>;
  readonly #checkpointer: () => Checkpointer | undefined;

  /** @param parts.checkpointer whose thread may wait for the disk; undefined while there is none. */
  constructor(
    database: Database,
    parts: { readonly checkpointer: () => Checkpointer | undefined },
  ) {
    this.#database = database;
    this.#statements = prepareLeftovers(database);
    this.#checkpointer = parts.checkpointer;
  }

  files(limit: number): readonly string[] {
    const rows = this.#database.read(() => this.#statements.list.all({ kind: 'file', limit }));
    return rows.map(({ name }) => name);
  }

  fileGone(file: string): void {
    this.#database.write(() => this.#statements.remove.run({ kind: 'file', name: file }));
  }

  inPages(): 'asked' | 'expired' | undefined {
    const rows = this.#database.read(() => this.#statements.list.all({ kind: 'pages', limit: 2 }));
    const names = rows.map(({ name }) => name);
    return (['asked', 'expired'] as const).find((name) => names.includes(name));
  }

  compact(): void {
    this.#database.vacuum();
    this.#database.write(() => {
      for (const name of ['asked', 'expired']) this.#statements.remove.run({ kind: 'pages', name });
    });
  }

  async emptyLog(): Promise<boolean> {
    const checkpointer = this.#checkpointer();
    return checkpointer === undefined ? this.#database.emptyLog() : await checkpointer.emptyLog();
  }

  sizeBytes(): number {
    return this.#database.read(() => this.#statements.size.get({}))?.bytes ?? 0;
  }
}
