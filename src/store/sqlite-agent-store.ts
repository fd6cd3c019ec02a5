/** Agents in SQLite, with their versions, drafts and calls of today. */
import { sql } from 'kysely';
import {
  type Agent,
  type AgentDetail,
  type AgentQuery,
  type AgentStore,
  type AgentSummary,
  type ChangedBy,
  DEFAULT_AGENT_SETTINGS,
  type Scope,
} from '../domain/agent/agent.ts';
import type { AgentPatch } from '../domain/agent/agent-rules.ts';
import {
  AGENT_VERSIONS_KEPT,
  type AgentContent,
  type AgentVersion,
  type AgentVersionStore,
  changedFields,
  type SavedDraft,
  type SavedDraftStore,
} from '../domain/agent/agent-version.ts';
import type { Page, PageRange } from '../domain/ids.ts';
import { conflict } from '../domain/service-error.ts';
import { DAY_MS } from '../lib/clock.ts';
import { firstOf, inScope, pageOf, type Queries, SqliteStore } from './queries.ts';
import { type RowOf, recordOf, rowOf } from './sqlite/rows.ts';
import { type AgentRow, type AgentVersionRow, build } from './sqlite/schema.ts';

/** Keeps agents in SQLite. */
export class SqliteAgentStore extends SqliteStore implements AgentStore {
  async insert(agent: Agent, by: ChangedBy = 'api'): Promise<void> {
    const row = rowOf(agent);
    await this.database.transaction(async (transaction) => {
      await refuseHeldNumber(transaction, row);
      await transaction.run(build.insertInto('agents').values(row));
      await new SqliteAgentVersionStore(transaction).keep(agent, [], by);
    });
  }

  async update(agent: Agent, by: ChangedBy = 'api'): Promise<void> {
    const row = rowOf(agent);
    await this.database.transaction(async (transaction) => {
      await refuseHeldNumber(transaction, row);
      const before = await new SqliteAgentStore(transaction).find(agent, agent.id);
      if (before === undefined) return;
      await transaction.run(build.updateTable('agents').set(row).where('id', '=', agent.id));
      const changed = changedFields(before, agent);
      const versions = new SqliteAgentVersionStore(transaction);
      if (changed.length > 0) await versions.keep(agent, changed, by);
    });
  }

  async requireFreeNumber(agent: Agent): Promise<void> {
    await refuseHeldNumber(this.database, rowOf(agent));
  }

  async delete(scope: Scope, agentId: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      if ((await new SqliteAgentStore(transaction).find(scope, agentId)) === undefined) return;
      const liveCall = build
        .selectFrom('calls')
        .select('id')
        .where('agent_id', '=', agentId)
        // The same condition as in the index `calls_unfinished`.
        .where(sql<boolean>`status in ('queued', 'ringing', 'in_progress')`);
      if ((await transaction.get(liveCall.limit(1))) !== undefined) {
        throw conflict('Cannot delete the agent: it has a live call');
      }
      await transaction.run(build.deleteFrom('agents').where('id', '=', agentId));
    });
  }

  async find(scope: Scope, agentId: string): Promise<Agent | undefined> {
    return firstOf(this.database, agentsOf(scope).selectAll().where('id', '=', agentId), agentOf);
  }

  async findWithUsage(scope: Scope, agentId: string, now: Date): Promise<AgentDetail | undefined> {
    const query = agentsOf(scope)
      .selectAll()
      .select(usageSince(midnightMs(now)))
      .select(DRAFT_AT);
    const found = await this.database.get(query.where('id', '=', agentId));
    if (found === undefined) return undefined;
    const { draft_at: draftAt, ...row } = found;
    const draft = { draftAt: draftAt === null ? null : new Date(draftAt) };
    return { ...agentOf(row), ...usageOf(row), ...draft };
  }

  list(scope: Scope, range: AgentQuery, now: Date): Promise<Page<AgentSummary>> {
    const { status } = range;
    const all = agentsOf(scope);
    const every = status === undefined ? all : all.where('status', '=', status);
    const sorted = every
      .select(AGENT_SUMMARY_COLUMNS)
      .select(usageSince(midnightMs(now)))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc');
    return pageOf(this.database, { every, sorted, range }, summaryOf);
  }

  async findByPhoneNumber(phoneNumber: string): Promise<Agent | undefined> {
    return firstOf(this.database, liveHolder(phoneNumber).selectAll(), agentOf);
  }
}

/** @throws {ServiceError} CONFLICT when another agent has the number. */
async function refuseHeldNumber(
  database: Queries,
  { id, account_id, environment, phone_number }: AgentRow,
): Promise<void> {
  if (phone_number === null) return;
  const holder =
    environment === 'live' ? liveHolder(phone_number) : testHolder(phone_number, account_id);
  const held = await database.get(holder.select('id').where('id', '<>', id));
  if (held === undefined) return;
  throw conflict('Cannot use phoneNumber: another agent of the environment holds it');
}

/** A number belongs to one live agent of the server. The literal is the condition of the index. */
function liveHolder(phoneNumber: string) {
  return build
    .selectFrom('agents')
    .where('environment', '=', sql.lit('live'))
    .where('phone_number', '=', phoneNumber);
}

/** A number belongs to one test agent of an account. */
function testHolder(phoneNumber: string, accountId: string) {
  return build
    .selectFrom('agents')
    .where('environment', '=', sql.lit('test'))
    .where('account_id', '=', accountId)
    .where('phone_number', '=', phoneNumber);
}

function midnightMs(now: Date): number {
  return Math.floor(now.getTime() / DAY_MS) * DAY_MS;
}

function agentsOf(scope: Scope) {
  return build.selectFrom('agents').where(inScope(scope));
}

/** Number and seconds of each agent's calls since `midnight`; erased calls count too. */
function usageSince(midnight: number) {
  const calls = sql`(select duration_seconds from calls
      where calls.agent_id = agents.id and sort_at >= ${midnight} and started_at is not null
    union all select duration_seconds from erased_calls
      where erased_calls.agent_id = agents.id and started_at >= ${midnight})`;
  return [
    sql<number>`(select count(*) from ${calls})`.as('calls_today'),
    sql<number>`(select coalesce(sum(duration_seconds), 0) from ${calls})`.as('seconds_today'),
  ] as const;
}

const DRAFT_AT = sql<number | null>`(select updated_at from agent_drafts
  where agent_drafts.agent_id = agents.id)`.as('draft_at');

/** Columns that lists read. */
const AGENT_SUMMARY_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'name',
  'voice',
  'language',
  'phone_number',
  'status',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof AgentRow)[];

const JSON_FIELDS = ['tools', 'extract', 'settings'] as const;

const USAGE_COLUMNS = ['calls_today', 'seconds_today'];

type AgentFacts = Omit<AgentSummary, keyof ReturnType<typeof usageOf>>;

/** Calls of an agent since midnight UTC. */
interface UsageColumns {
  readonly calls_today: number;
  readonly seconds_today: number;
}

function agentOf(row: AgentRow): Agent {
  return withDefaults(recordOf<Agent>(row, { json: JSON_FIELDS, without: USAGE_COLUMNS }));
}

/** Agents from before a setting existed have its default. */
function withDefaults<Content extends AgentContent>(agent: Content): Content {
  return { ...agent, settings: { ...DEFAULT_AGENT_SETTINGS, ...agent.settings } };
}

function summaryOf(row: RowOf<AgentFacts> & UsageColumns): AgentSummary {
  return { ...recordOf<AgentFacts>(row, { without: USAGE_COLUMNS }), ...usageOf(row) };
}

/** Minutes with one decimal. */
function usageOf({ calls_today, seconds_today }: UsageColumns) {
  return { totalCallsToday: calls_today, totalMinutesToday: Math.round(seconds_today / 6) / 10 };
}

/** Keeps versions; the store of agents adds each one in the transaction of the change. */
export class SqliteAgentVersionStore extends SqliteStore implements AgentVersionStore {
  /**
   * Keeps the agent as it is from now on, and drops versions beyond `AGENT_VERSIONS_KEPT`.
   *
   * @param changed Fields that differ from the version before; none for a new agent.
   */
  async keep(agent: Agent, changed: readonly string[], by: ChangedBy): Promise<void> {
    const { id, account_id, environment, created_at, updated_at, ...content } = rowOf(agent);
    const newest = sql<number>`(select coalesce(max(version), 0) from agent_versions
      where agent_id = ${id})`;
    await this.database.run(
      build.insertInto('agent_versions').values({
        ...content,
        agent_id: id,
        version: sql<number>`${newest} + 1`,
        at: updated_at,
        changed_by: by,
        changed: JSON.stringify(changed),
      }),
    );
    await this.database.run(
      build
        .deleteFrom('agent_versions')
        .where('agent_id', '=', id)
        .where('version', '<=', sql<number>`${newest} - ${AGENT_VERSIONS_KEPT}`),
    );
  }

  list(scope: Scope, agentId: string, range: PageRange): Promise<Page<AgentVersion>> {
    const every = versionsOf(scope, agentId);
    const sorted = every.selectAll('agent_versions').orderBy('version', 'desc');
    return pageOf(this.database, { every, sorted, range }, versionOf);
  }

  async find(scope: Scope, agentId: string, version: number): Promise<AgentVersion | undefined> {
    const query = versionsOf(scope, agentId).selectAll('agent_versions');
    return firstOf(this.database, query.where('version', '=', version), versionOf);
  }
}

function versionsOf(scope: Scope, agentId: string) {
  return build
    .selectFrom('agent_versions')
    .innerJoin('agents', 'agents.id', 'agent_versions.agent_id')
    .where('agent_versions.agent_id', '=', agentId)
    .where(inScope(scope));
}

function versionOf(row: AgentVersionRow): AgentVersion {
  const { agent_id: _, version, at, changed_by: by, changed, ...content } = row;
  return {
    version,
    at: new Date(at),
    by: by as ChangedBy,
    changed: JSON.parse(changed) as string[],
    agent: withDefaults(recordOf<AgentContent>(content, { json: JSON_FIELDS })),
  };
}

/** Keeps drafts in SQLite. */
export class SqliteSavedDraftStore extends SqliteStore implements SavedDraftStore {
  async find(scope: Scope, agentId: string): Promise<SavedDraft | undefined> {
    const query = build
      .selectFrom('agent_drafts')
      .innerJoin('agents', 'agents.id', 'agent_drafts.agent_id')
      .selectAll('agent_drafts')
      .where('agent_drafts.agent_id', '=', agentId)
      .where(inScope(scope));
    const row = await this.database.get(query);
    if (row === undefined) return undefined;
    return {
      changes: JSON.parse(row.changes) as AgentPatch,
      basedOnAt: new Date(row.based_on_at),
      by: row.changed_by as ChangedBy,
      updatedAt: new Date(row.updated_at),
    };
  }

  async save(agentId: string, draft: SavedDraft): Promise<void> {
    await this.database.run(
      build.replaceInto('agent_drafts').values({
        agent_id: agentId,
        changes: JSON.stringify(draft.changes),
        based_on_at: draft.basedOnAt.getTime(),
        changed_by: draft.by,
        updated_at: draft.updatedAt.getTime(),
      }),
    );
  }

  async delete(agentId: string): Promise<void> {
    await this.database.run(build.deleteFrom('agent_drafts').where('agent_id', '=', agentId));
  }
}
