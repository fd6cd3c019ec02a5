/** The audit log in SQLite. */
import type { AuditEntry, AuditLog, AuditPage } from '../../domain/account/audit-log.ts';
import { countOf, type Queries } from '../queries.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';

type PageQuery = Parameters<AuditLog['page']>[0];

/** Keeps the audit log in SQLite. */
export class SqliteAuditLog implements AuditLog {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async append(entry: AuditEntry): Promise<void> {
    await this.#database.run(build.insertInto('audit_log').values(rowOf(entry)));
  }

  async page(query: PageQuery): Promise<AuditPage> {
    const { limit, offset } = query;
    const matching = entriesOf(query);
    const newest = matching.selectAll().orderBy('position', 'desc').limit(limit).offset(offset);
    return {
      entries: (await this.#database.all(newest)).map((row) =>
        recordOf<AuditEntry>(row, { without: ['position'] }),
      ),
      total: await countOf(this.#database, matching),
    };
  }
}

function entriesOf({ actorId, resource }: PageQuery) {
  let query = build.selectFrom('audit_log');
  if (actorId !== undefined) query = query.where('actor_id', '=', actorId);
  if (resource !== undefined) query = query.where('resource', '=', resource);
  return query;
}
