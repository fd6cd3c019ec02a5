/** What agents were like after each change, in SQLite. */
import { sql } from 'kysely';
import type { Agent, ChangedBy, Scope } from '../../domain/agent/agent.ts';
import {
  AGENT_VERSIONS_KEPT,
  type AgentVersion,
  type AgentVersionPage,
  type AgentVersionStore,
} from '../../domain/agent/agent-version.ts';
import type { Database } from '../sqlite/database.ts';
import { type AgentVersionRow, build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { AGENT_CONTENT_COLUMNS, agentRowOf, contentOf } from './agent-rows.ts';

const FACTS = ['agent_id', 'at', 'changed_by', 'changed'] as const;

interface OfAgent extends Scope {
  readonly agentId: string;
}

function prepareWrites(database: Database) {
  return {
    keep: database.prepare((take: Take<Omit<AgentVersionRow, 'version'>>) =>
      build.insertInto('agent_versions').values({
        ...takeAll(take, [...FACTS, ...AGENT_CONTENT_COLUMNS]),
        version: sql<number>`(select coalesce(max(version), 0) + 1 from agent_versions
          where agent_id = ${take('agent_id')})`,
      }),
    ),
    trim: database.prepare((take: Take<{ agentId: string; kept: number }>) =>
      build
        .deleteFrom('agent_versions')
        .where('agent_id', '=', take('agentId'))
        .where(
          sql<boolean>`version <= (select max(version) from agent_versions
            where agent_id = ${take('agentId')}) - ${take('kept')}`,
        ),
    ),
  };
}

function prepareReads(database: Database) {
  return {
    page: database.prepare((take: Take<OfAgent & { limit: number; offset: number }>) =>
      versionsOf(take)
        .selectAll('agent_versions')
        .orderBy('version', 'desc')
        .limit(take('limit'))
        .offset(take('offset')),
    ),
    total: database.prepare((take: Take<OfAgent>) =>
      versionsOf(take).select((expression) => expression.fn.countAll<number>().as('n')),
    ),
    find: database.prepare((take: Take<OfAgent & { version: number }>) =>
      versionsOf(take).selectAll('agent_versions').where('version', '=', take('version')),
    ),
  };
}

function versionsOf(take: Take<OfAgent>) {
  return build
    .selectFrom('agent_versions')
    .innerJoin('agents', 'agents.id', 'agent_versions.agent_id')
    .where('agent_versions.agent_id', '=', take('agentId'))
    .where('agents.account_id', '=', take('accountId'))
    .where('agents.environment', '=', take('environment'));
}

/** Keeps versions; the store of agents tells it of every change, inside the transaction of the change. */
export class SqliteAgentVersionStore implements AgentVersionStore {
  readonly #database: Database;
  readonly #writes: ReturnType<typeof prepareWrites>;
  readonly #reads: ReturnType<typeof prepareReads>;

  constructor(database: Database) {
    this.#database = database;
    this.#writes = prepareWrites(database);
    this.#reads = prepareReads(database);
  }

  /**
   * Keeps the agent as it is from now on. Throws what SQLite throws, so that the change is taken back with it.
   *
   * @param changed fields that differ from the version before; none for an agent that was just made.
   */
  keep(agent: Agent, changed: readonly string[], by: ChangedBy): void {
    const { id: agentId } = agent;
    this.#writes.keep.run({
      ...agentRowOf(agent),
      agent_id: agentId,
      at: agent.updatedAt.getTime(),
      changed_by: by,
      changed: JSON.stringify(changed),
    });
    // Before the first version there are none to take away.
    if (changed.length > 0) this.#writes.trim.run({ agentId, kept: AGENT_VERSIONS_KEPT });
  }

  list(
    scope: Scope,
    agentId: string,
    page: { readonly limit: number; readonly offset: number },
  ): AgentVersionPage {
    const values = { ...scope, agentId };
    return this.#database.read(() => ({
      versions: this.#reads.page.all({ ...values, ...page }).map(versionOf),
      total: this.#reads.total.get(values)?.n ?? 0,
    }));
  }

  find(scope: Scope, agentId: string, version: number): AgentVersion | undefined {
    const row = this.#database.read(() => this.#reads.find.get({ ...scope, agentId, version }));
    return row === undefined ? undefined : versionOf(row);
  }
}

function versionOf(row: AgentVersionRow): AgentVersion {
  return {
    version: row.version,
    at: new Date(row.at),
    by: row.changed_by as ChangedBy,
    changed: JSON.parse(row.changed) as string[],
    agent: contentOf(row),
  };
}
