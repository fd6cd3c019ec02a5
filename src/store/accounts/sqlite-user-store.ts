/** Users of the dashboard, their invites, and the audit log in SQLite. */

import type { AuditEntry, AuditLog } from '../../domain/account/audit-log.ts';
import type { Invite, StoredUser, UserStore } from '../../domain/account/user.ts';
import type { Page } from '../../domain/ids.ts';
import { allOf, firstOf, pageOf, SqliteStore } from '../queries.ts';
import { readerOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';

/** Keeps users and invites in SQLite. */
export class SqliteUserStore extends SqliteStore implements UserStore {
  async list(): Promise<readonly StoredUser[]> {
    const query = build.selectFrom('users').selectAll().orderBy('created_at').orderBy('id');
    return allOf(this.database, query, recordOf<StoredUser>);
  }

  async find(userId: string): Promise<StoredUser | undefined> {
    const query = build.selectFrom('users').selectAll().where('id', '=', userId);
    return firstOf(this.database, query, recordOf<StoredUser>);
  }

  async insert(user: StoredUser): Promise<void> {
    await this.database.run(build.insertInto('users').values(rowOf(user)));
  }

  async update(user: StoredUser): Promise<void> {
    const row = rowOf(user);
    await this.database.run(build.updateTable('users').set(row).where('id', '=', user.id));
  }

  async delete(userId: string): Promise<void> {
    await this.database.run(build.deleteFrom('users').where('id', '=', userId));
  }

  async signedIn(userId: string, at: Date): Promise<void> {
    const signedIn = build.updateTable('users').set({ last_sign_in_at: at.getTime() });
    await this.database.run(signedIn.where('id', '=', userId));
  }

  async invites(): Promise<readonly Invite[]> {
    const query = build.selectFrom('invites').selectAll();
    const newest = query.orderBy('created_at', 'desc').orderBy('id', 'desc');
    return allOf(this.database, newest, inviteOf);
  }

  async inviteOf(hash: string): Promise<Invite | undefined> {
    const query = build.selectFrom('invites').selectAll().where('hash', '=', hash);
    return firstOf(this.database, query, inviteOf);
  }

  async insertInvite(invite: Invite, hash: string): Promise<void> {
    await this.database.run(build.insertInto('invites').values({ ...rowOf(invite), hash }));
  }

  async updateInvite(invite: Invite): Promise<void> {
    const row = rowOf(invite);
    await this.database.run(build.updateTable('invites').set(row).where('id', '=', invite.id));
  }

  async pruneInvites(before: Date): Promise<void> {
    const expired = build.deleteFrom('invites').where('expires_at', '<', before.getTime());
    await this.database.run(expired);
  }
}

const inviteOf = readerOf<Invite>({ without: ['hash'] });

type PageQuery = Parameters<AuditLog['page']>[0];

/** Keeps the audit log in SQLite. */
export class SqliteAuditLog extends SqliteStore implements AuditLog {
  async append(entry: AuditEntry): Promise<void> {
    await this.database.run(build.insertInto('audit_log').values(rowOf(entry)));
  }

  page(query: PageQuery): Promise<Page<AuditEntry>> {
    const every = entriesOf(query);
    const sorted = every.selectAll().orderBy('position', 'desc');
    const entryOf = readerOf<AuditEntry>({ without: ['position'] });
    return pageOf(this.database, { every, sorted, range: query }, entryOf);
  }
}

function entriesOf({ actorId, resource }: PageQuery) {
  let query = build.selectFrom('audit_log');
  if (actorId !== undefined) query = query.where('actor_id', '=', actorId);
  if (resource !== undefined) query = query.where('resource', '=', resource);
  return query;
}
