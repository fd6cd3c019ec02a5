/** Versions of agents in SQLite: the content after each change. */
import { sql } from 'kysely';
import {
  type Agent,
  type AgentSettings,
  type AgentStatus,
  type ChangedBy,
  DEFAULT_AGENT_SETTINGS,
  type Scope,
} from '../../domain/agent/agent.ts';
import {
  AGENT_VERSIONS_KEPT,
  type AgentVersion,
  type AgentVersionPage,
  type AgentVersionStore,
} from '../../domain/agent/agent-version.ts';
import type { Database } from '../sqlite/database.ts';
import { type AgentRow, type AgentVersionRow, build } from '../sqlite/schema.ts';

/** Keeps versions; the store of agents adds each one in the transaction of the change. */
export class SqliteAgentVersionStore implements AgentVersionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Keeps the agent as it is from now on, and drops versions beyond `AGENT_VERSIONS_KEPT`.
   *
   * @param changed Fields that differ from the version before; none for a new agent.
   */
  keep(agent: Agent, changed: readonly string[], by: ChangedBy): void {
    const { id, account_id, environment, created_at, updated_at, ...content } = agentRowOf(agent);
    const newest = sql<number>`(select coalesce(max(version), 0) from agent_versions
      where agent_id = ${id})`;
    this.#database.run(
      build.insertInto('agent_versions').values({
        ...content,
        agent_id: id,
        version: sql<number>`${newest} + 1`,
        at: updated_at,
        changed_by: by,
        changed: JSON.stringify(changed),
      }),
    );
    this.#database.run(
      build
        .deleteFrom('agent_versions')
        .where('agent_id', '=', id)
        .where('version', '<=', sql<number>`${newest} - ${AGENT_VERSIONS_KEPT}`),
    );
  }

  list(
    scope: Scope,
    agentId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): AgentVersionPage {
    const versions = versionsOf(scope, agentId);
    const page = versions
      .selectAll('agent_versions')
      .orderBy('version', 'desc')
      .limit(limit)
      .offset(offset);
    const total = versions.select((expression) => expression.fn.countAll<number>().as('n'));
    return {
      versions: this.#database.all(page).map(versionOf),
      total: this.#database.get(total)?.n ?? 0,
    };
  }

  find(scope: Scope, agentId: string, version: number): AgentVersion | undefined {
    const query = versionsOf(scope, agentId).selectAll('agent_versions');
    const row = this.#database.get(query.where('version', '=', version));
    return row === undefined ? undefined : versionOf(row);
  }
}

function versionsOf({ accountId, environment }: Scope, agentId: string) {
  return build
    .selectFrom('agent_versions')
    .innerJoin('agents', 'agents.id', 'agent_versions.agent_id')
    .where('agent_versions.agent_id', '=', agentId)
    .where('agents.account_id', '=', accountId)
    .where('agents.environment', '=', environment);
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

/** The row of an agent. */
export function agentRowOf(agent: Agent): AgentRow {
  return {
    id: agent.id,
    account_id: agent.accountId,
    environment: agent.environment,
    name: agent.name,
    greeting: agent.greeting,
    system_prompt: agent.systemPrompt,
    voice: agent.voice,
    language: agent.language,
    phone_number: agent.phoneNumber,
    tools: JSON.stringify(agent.tools),
    settings: JSON.stringify(agent.settings),
    status: agent.status,
    created_at: agent.createdAt.getTime(),
    updated_at: agent.updatedAt.getTime(),
  };
}

/** The fields of an agent that versions keep: those that a customer can change. */
export function contentOf(
  row: Omit<AgentRow, 'id' | 'account_id' | 'environment' | 'created_at' | 'updated_at'>,
) {
  return {
    name: row.name,
    greeting: row.greeting,
    systemPrompt: row.system_prompt,
    voice: row.voice,
    language: row.language,
    phoneNumber: row.phone_number,
    tools: JSON.parse(row.tools) as string[],
    // Rows from before a setting existed have its default.
    settings: { ...DEFAULT_AGENT_SETTINGS, ...(JSON.parse(row.settings) as AgentSettings) },
    status: row.status as AgentStatus,
  };
}
