/** Agents in SQLite, with what they did today. */

import { type RawBuilder, sql } from 'kysely';
import type {
  Agent,
  AgentPage,
  AgentQuery,
  AgentStatus,
  AgentStore,
  AgentWithUsage,
  ChangedBy,
  Scope,
} from '../../domain/agent/agent.ts';
import { changedFields } from '../../domain/agent/agent-version.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Database } from '../sqlite/database.ts';
import { type AgentRow, build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import {
  AGENT_COLUMNS,
  AGENT_SUMMARY_COLUMNS,
  agentOf,
  agentRowOf,
  summaryOf,
  type UsageColumns,
  withUsage,
} from './agent-rows.ts';
import type { SqliteAgentVersionStore } from './sqlite-agent-version-store.ts';

const DAY_MS = 86_400_000;

/** Keeps agents in SQLite. */
export class SqliteAgentStore implements AgentStore {
  readonly #database: Database;
  readonly #versions: SqliteAgentVersionStore;
  readonly #writes: ReturnType<typeof prepareAgentWrites>;
  readonly #reads: ReturnType<typeof prepareAgentReads>;

  constructor(database: Database, versions: SqliteAgentVersionStore) {
    this.#database = database;
    this.#versions = versions;
    this.#writes = prepareAgentWrites(database);
    this.#reads = prepareAgentReads(database);
  }

  insert(agent: Agent, by: ChangedBy = 'api'): void {
    const row = agentRowOf(agent);
    this.#database.together(() => {
      this.#refuseHeldNumber(row);
      this.#writes.insert.run(row);
      this.#versions.keep(agent, [], by);
    });
  }

  update(agent: Agent, by: ChangedBy = 'api'): void {
    const row = agentRowOf(agent);
    this.#database.write(() => {
      this.#refuseHeldNumber(row);
      const before = this.find(agent, agent.id);
      if (before === undefined) return;
      this.#writes.update.run(row);
      const changed = changedFields(before, agent);
      if (changed.length > 0) this.#versions.keep(agent, changed, by);
    });
  }

  delete(scope: Scope, agentId: string): void {
    this.#database.write(() => {
      if (this.#writes.liveCall.get({ id: agentId }) !== undefined) {
        throw new ServiceError('CONFLICT', 'Cannot delete the agent: it has a live call');
      }
      this.#writes.delete.run({ ...scope, id: agentId });
    });
  }

  find(scope: Scope, agentId: string): Agent | undefined {
    const row = this.#database.read(() => this.#reads.find.get({ ...scope, id: agentId }));
    return row === undefined ? undefined : agentOf(row);
  }

  findWithUsage(scope: Scope, agentId: string, now: Date): AgentWithUsage | undefined {
    const values = { ...scope, id: agentId, midnight: midnightMs(now) };
    const row = this.#database.read(() => this.#reads.findWithUsage.get(values));
    return row === undefined ? undefined : withUsage(row);
  }

  list(scope: Scope, query: AgentQuery, now: Date): AgentPage {
    const { limit, offset, status } = query;
    const values = { ...scope, status, limit: limit + 1, offset, midnight: midnightMs(now) };
    const page = status === undefined ? this.#reads.every : this.#reads.byStatus;
    return this.#database.read(() => {
      // One row more than asked for shows whether there are more: only then they are counted.
      const rows = page.rows.all(values);
      const isLast = rows.length <= limit && (rows.length > 0 || offset === 0);
      const total = isLast ? offset + rows.length : (page.total.get(values)?.n ?? 0);
      return { agents: rows.slice(0, limit).map(summaryOf), total };
    });
  }

  findByPhoneNumber(phoneNumber: string): Agent | undefined {
    const row = this.#database.read(() => this.#reads.byNumber.get({ phoneNumber }));
    return row === undefined ? undefined : agentOf(row);
  }

  /** @throws {ServiceError} CONFLICT when another agent has the number. */
  #refuseHeldNumber(row: AgentRow): void {
    const holder = row.environment === 'live' ? this.#reads.liveHolder : this.#reads.testHolder;
    if (row.phone_number === null || holder.get(row) === undefined) return;
    throw new ServiceError(
      'CONFLICT',
      'Cannot use phoneNumber: another agent of the environment holds it',
    );
  }
}

function midnightMs(now: Date): number {
  return Math.floor(now.getTime() / DAY_MS) * DAY_MS;
}

interface ById extends Scope {
  readonly id: string;
}

interface Page extends Scope {
  readonly status: AgentStatus | undefined;
  readonly midnight: number;
  readonly limit: number;
  readonly offset: number;
}

/** Statements that write the agents table, and the one that says whether an agent may go. */
function prepareAgentWrites(database: Database) {
  return {
    insert: database.prepare((take: Take<AgentRow>) =>
      build.insertInto('agents').values(takeAll(take, AGENT_COLUMNS)),
    ),
    update: database.prepare((take: Take<AgentRow>) =>
      build
        .updateTable('agents')
        .set(takeAll(take, AGENT_COLUMNS))
        .where('id', '=', take('id'))
        .where('account_id', '=', take('account_id'))
        .where('environment', '=', take('environment')),
    ),
    delete: database.prepare((take: Take<ById>) =>
      build
        .deleteFrom('agents')
        .where('id', '=', take('id'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment')),
    ),
    liveCall: database.prepare((take: Take<{ id: string }>) =>
      build
        .selectFrom('calls')
        .select('id')
        .where('agent_id', '=', take('id'))
        .where(sql<boolean>`status in ('queued', 'ringing', 'in_progress')`)
        .limit(1),
    ),
  };
}

/** Statements that read agents, their numbers, and pages of them. */
export function prepareAgentReads(database: Database) {
  return {
    find: database.prepare((take: Take<ById>) =>
      agentsOf(take).select(AGENT_COLUMNS).where('id', '=', take('id')),
    ),
    findWithUsage: database.prepare((take: Take<ById & { midnight: number }>) =>
      agentsOf(take)
        .where('id', '=', take('id'))
        .select(AGENT_COLUMNS)
        .select(usageSince(take('midnight'))),
    ),
    byNumber: database.prepare((take: Take<{ phoneNumber: string }>) =>
      build
        .selectFrom('agents')
        .select(AGENT_COLUMNS)
        .where(isNumber(take('phoneNumber')))
        .where(sql<boolean>`environment = 'live'`),
    ),
    liveHolder: database.prepare((take: Take<AgentRow>) =>
      holdersOf(take).where(sql<boolean>`environment = 'live'`),
    ),
    testHolder: database.prepare((take: Take<AgentRow>) =>
      holdersOf(take)
        .where(sql<boolean>`environment = 'test'`)
        .where('account_id', '=', take('account_id')),
    ),
    every: preparePage(database, (take) => agentsOf(take)),
    byStatus: preparePage(database, (take) =>
      agentsOf(take).where('status', '=', take('status') as RawBuilder<string>),
    ),
  };
}

/** Other agents with the same number. */
function holdersOf(take: Take<AgentRow>) {
  return build
    .selectFrom('agents')
    .select('id')
    .where(isNumber(take('phone_number')))
    .where('id', '<>', take('id'));
}

/** Where most agents have no number, statistics let SQLite think that any number is that of most agents, and read them all. */
function isNumber(number: RawBuilder<string | null>): RawBuilder<boolean> {
  return sql`unlikely(phone_number = ${number})`;
}

/** A page of the agents that `filter` leaves, and how many there are in all. */
function preparePage(
  database: Database,
  filter: (take: Take<Page>) => ReturnType<typeof agentsOf>,
) {
  const pageOf = (take: Take<Page>) =>
    filter(take)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(take('limit'))
      .offset(take('offset'));
  return {
    rows: database.prepare((take: Take<Page>) =>
      pageOf(take)
        .select(AGENT_SUMMARY_COLUMNS)
        .select(usageSince(take('midnight'))),
    ),
    total: database.prepare((take: Take<Page>) =>
      filter(take).select((expression) => expression.fn.countAll<number>().as('n')),
    ),
  };
}

function agentsOf(take: Take<Scope>) {
  return build
    .selectFrom('agents')
    .where('account_id', '=', take('accountId'))
    .where('environment', '=', take('environment'));
}

/** What each agent did since midnight. */
function usageSince(midnight: RawBuilder<number>) {
  const today = callsSince(midnight);
  return [
    sql<number>`(select count(*) from ${today})`.as('calls_today' satisfies keyof UsageColumns),
    sql<number>`(select coalesce(sum(duration_seconds), 0) from ${today})`.as(
      'seconds_today' satisfies keyof UsageColumns,
    ),
  ] as const;
}

/** The calls of an agent, those that were erased since included; read from indexes alone. */
function callsSince(midnight: RawBuilder<number>): RawBuilder<unknown> {
  return sql`(select duration_seconds from calls
      where calls.agent_id = agents.id and sort_at >= ${midnight} and started_at is not null
    union all select duration_seconds from erased_calls
      where erased_calls.agent_id = agents.id and started_at >= ${midnight})`;
}
