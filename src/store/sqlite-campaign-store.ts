/** Campaigns in SQLite. */

import { sql } from 'kysely';
import type { Scope } from '../domain/agent/agent.ts';
import {
  CAMPAIGN_LIMITS,
  type Campaign,
  type CampaignStore,
  type Contact,
  type ContactCall,
  type ContactCounts,
  type NewContact,
} from '../domain/campaign/campaign.ts';
import type { Page } from '../domain/ids.ts';
import { conflict } from '../domain/service-error.ts';
import type { Notifier } from '../lib/clock.ts';
import { allOf, countOf, firstOf, inScope, pageOf, type Queries, SqliteStore } from './queries.ts';
import { type RowOf, readerOf, recordOf, rowOf } from './sqlite/rows.ts';
import { build, type CallRow } from './sqlite/schema.ts';

/** Keeps the JSON of a statement short. */
const ROWS_A_STATEMENT = 1000;

/** Keeps campaigns in SQLite. */
export class SqliteCampaignStore extends SqliteStore implements CampaignStore {
  readonly notifier: Notifier;

  constructor(database: Queries, notifier: Notifier) {
    super(database);
    this.notifier = notifier;
  }

  async insert(campaign: Campaign, contacts: readonly NewContact[]): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const { unfinishedMax } = CAMPAIGN_LIMITS;
      if ((await countUnfinished(transaction, campaign)) >= unfinishedMax) {
        const why = `${unfinishedMax} are not over; cancel one first`;
        throw conflict(`Cannot make the campaign: ${why}`);
      }
      await transaction.run(build.insertInto('campaigns').values(rowOf(campaign)));
      for (let first = 0; first < contacts.length; first += ROWS_A_STATEMENT) {
        const rows = contacts.slice(first, first + ROWS_A_STATEMENT);
        await transaction.run(insertAll(campaign, rows, first));
      }
      transaction.onCommit(() => this.notifier.notify());
    });
  }

  async update(campaign: Campaign): Promise<void> {
    const changed = build.updateTable('campaigns').set(rowOf(campaign));
    await this.database.run(changed.where('id', '=', campaign.id));
    this.database.onCommit(() => this.notifier.notify());
  }

  async delete(id: string): Promise<void> {
    await this.database.run(build.deleteFrom('campaigns').where('id', '=', id));
  }

  async find(scope: Scope, id: string): Promise<Campaign | undefined> {
    return firstOf(
      this.database,
      campaignsOf(scope).selectAll().where('id', '=', id),
      recordOf<Campaign>,
    );
  }

  async findById(id: string): Promise<Campaign | undefined> {
    const query = build.selectFrom('campaigns').selectAll().where('id', '=', id);
    return firstOf(this.database, query, recordOf<Campaign>);
  }

  list(
    scope: Scope,
    { status, ...range }: Parameters<CampaignStore['list']>[1],
  ): Promise<Page<Campaign>> {
    const all = campaignsOf(scope);
    const every = status === undefined ? all : all.where('status', '=', status);
    const sorted = every.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
    return pageOf(this.database, { every, sorted, range }, recordOf<Campaign>);
  }

  async running(): Promise<readonly Campaign[]> {
    // The same condition as in the index `campaigns_running`.
    const query = build.selectFrom('campaigns').selectAll();
    const running = query.where('status', '=', sql.lit('running')).orderBy('id');
    return allOf(this.database, running, recordOf<Campaign>);
  }

  async counts(id: string): Promise<ContactCounts> {
    const query = contactsOf(id)
      .select(['state', 'end_reason'])
      .select((expression) => expression.fn.countAll<number>().as('n'))
      .groupBy(['state', 'end_reason']);
    return countsOf(await this.database.all(query));
  }

  async open(id: string): Promise<{ readonly calling: number; readonly hasPending: boolean }> {
    const calling = contactsOf(id).where('state', '=', 'calling');
    const pending = contactsOf(id).select('position').where('state', '=', 'pending').limit(1);
    return {
      calling: await countOf(this.database, calling),
      hasPending: (await this.database.get(pending)) !== undefined,
    };
  }

  async isAnyCalling(): Promise<boolean> {
    const query = build.selectFrom('campaign_contacts').select('position').limit(1);
    // The same condition as in the index `campaign_contacts_calling`.
    const calling = query.where('state', '=', sql.lit('calling'));
    return (await this.database.get(calling)) !== undefined;
  }

  contacts(
    id: string,
    { state, ...range }: Parameters<CampaignStore['contacts']>[1],
  ): Promise<Page<Contact>> {
    const all = contactsOf(id);
    const every = state === undefined ? all : all.where('state', '=', state);
    const sorted = every.selectAll().orderBy('position');
    return pageOf(this.database, { every, sorted, range }, contactOf);
  }

  async due(id: string, now: Date, limit: number): Promise<readonly Contact[]> {
    const query = inTurnOf(id).where('due_at', '<=', now.getTime()).limit(limit);
    return allOf(this.database, query, contactOf);
  }

  async dueAfter(id: string, latest: Date, limit: number): Promise<readonly Contact[]> {
    const query = inTurnOf(id).where('due_at', '>', latest.getTime()).limit(limit);
    return allOf(this.database, query, contactOf);
  }

  async calling(
    id: string,
  ): Promise<readonly (Contact & { readonly callStatus: CallRow['status'] | null })[]> {
    const query = contactsOf(id)
      .leftJoin('calls', 'calls.id', 'campaign_contacts.call_id')
      .selectAll('campaign_contacts')
      .select('calls.status as callStatus')
      .where('state', '=', 'calling');
    return allOf(this.database, query, ({ callStatus, ...row }) => ({
      ...contactOf(row),
      callStatus,
    }));
  }

  async over(
    limit: number,
  ): Promise<readonly { readonly contact: Contact; readonly call: ContactCall | undefined }[]> {
    const query = build
      .selectFrom('campaign_contacts')
      .leftJoin('calls', 'calls.id', 'campaign_contacts.call_id')
      .selectAll('campaign_contacts')
      .select(['calls.status', 'calls.end_reason as why', 'calls.failure_reason as failure'])
      // The same condition as in the index `campaign_contacts_calling`.
      .where('state', '=', sql.lit('calling'))
      .where(sql<boolean>`(calls.status is null or calls.status in ('completed', 'failed'))`)
      .limit(limit);
    return allOf(this.database, query, ({ status, why, failure, ...row }) => ({
      contact: contactOf(row),
      call: status === null ? undefined : { status, endReason: why, failureReason: failure },
    }));
  }

  async saveContact(contact: Contact): Promise<void> {
    const { campaign_id, position, ...changes } = rowOf(contact);
    const changed = changeOf(campaign_id).set(changes);
    await this.database.run(changed.where('position', '=', position));
  }

  async claim({ campaignId, position }: Contact, callId: string): Promise<boolean> {
    const claimed = pendingOf(campaignId)
      .set({ state: 'calling', call_id: callId, reason: null })
      .set({ attempts: sql<number>`attempts + 1` })
      .where('position', '=', position);
    return (await this.database.run(claimed)) === 1;
  }

  async postpone(
    id: string,
    positions: readonly number[],
    { dueAt, reason }: { readonly dueAt: Date; readonly reason: string },
  ): Promise<void> {
    await this.database.run(
      pendingOf(id).set({ due_at: dueAt.getTime(), reason }).where('position', 'in', positions),
    );
  }

  async closePending(
    id: string,
    { state, reason }: Pick<Contact, 'state' | 'reason'>,
    positions?: readonly number[],
  ): Promise<number> {
    const closed = pendingOf(id).set({ state, reason });
    return this.database.run(
      positions === undefined ? closed : closed.where('position', 'in', positions),
    );
  }
}

/** Binds the list as one value: with a value each, 10,000 contacts would block the conversations' thread several times as long. */
function insertAll(
  { id, createdAt, notBeforeAt }: Campaign,
  list: readonly NewContact[],
  first: number,
) {
  const dueAt = Math.max(createdAt.getTime(), notBeforeAt?.getTime() ?? 0);
  const rows = JSON.stringify(
    list.map(({ to, metadata, overrides }) => [
      ...[to, JSON.stringify(metadata), JSON.stringify(overrides)],
    ]),
  );
  const contacts = sql`insert into campaign_contacts
    (campaign_id, position, "to", metadata, overrides, state, attempts, due_at)
    select ${id}, key + ${first + 1}, value ->> 0, value ->> 1, value ->> 2, 'pending', 0, ${dueAt}
    from json_each(${rows})`;
  return { compile: () => contacts.compile(build) };
}

function countUnfinished(database: Queries, scope: Scope): Promise<number> {
  return countOf(database, campaignsOf(scope).where('status', 'in', ['running', 'paused']));
}

function campaignsOf(scope: Scope) {
  return build.selectFrom('campaigns').where(inScope(scope));
}

function contactsOf(id: string) {
  return build.selectFrom('campaign_contacts').where('campaign_id', '=', id);
}

/** Pending contacts in the order in which they are due. */
function inTurnOf(id: string) {
  return contactsOf(id)
    .selectAll()
    .where('state', '=', 'pending')
    .orderBy('due_at')
    .orderBy('position');
}

function changeOf(id: string) {
  return build.updateTable('campaign_contacts').where('campaign_id', '=', id);
}

function pendingOf(id: string) {
  return changeOf(id).where('state', '=', 'pending');
}

const contactOf = readerOf<Contact>({ json: ['metadata', 'overrides'] });

function countsOf(
  rows: readonly (Pick<RowOf<Contact>, 'state' | 'end_reason'> & { readonly n: number })[],
): ContactCounts {
  const counts = { pending: 0, calling: 0, completed: 0, failed: 0, refused: 0, cancelled: 0 };
  const byEndReason: Partial<Record<NonNullable<Contact['endReason']>, number>> = {};
  let total = 0;
  for (const { state, end_reason: reason, n } of rows) {
    counts[state] += n;
    total += n;
    const isDone = state === 'completed' || state === 'failed';
    if (isDone && reason !== null) byEndReason[reason] = (byEndReason[reason] ?? 0) + n;
  }
  return { total, ...counts, byEndReason };
}
