/** The prepared statements of the agents table. */
import { type RawBuilder, sql } from 'kysely';
import type { AgentStatus, Scope } from '../../domain/agent/agent.ts';
import type { Database } from '../sqlite/database.ts';
import { type AgentRow, build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { AGENT_COLUMNS, AGENT_SUMMARY_COLUMNS, type UsageColumns } from './agent-rows.ts';
import { agentColumns, agentItemColumns } from './agent-text.ts';

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
export function prepareAgentWrites(database: Database) {
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
    findText: database.prepare((take: Take<ById & { midnight: number }>) =>
      agentsOf(take)
        .where('id', '=', take('id'))
        .select(agentColumns(callsSince(take('midnight')))),
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

/** A page of the agents that `filter` leaves, as rows and as text, and how many there are in all. */
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
    texts: database.prepare((take: Take<Page>) =>
      pageOf(take).select(agentItemColumns(callsSince(take('midnight')))),
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
