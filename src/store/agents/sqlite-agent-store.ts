/** Agents in SQLite, with what they did today. */
import type {
  Agent,
  AgentPage,
  AgentQuery,
  AgentStore,
  AgentWithUsage,
  ChangedBy,
  Scope,
} from '../../domain/agent/agent.ts';
import { changedFields } from '../../domain/agent/agent-version.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Database } from '../sqlite/database.ts';
import type { AgentRow } from '../sqlite/schema.ts';
import { agentOf, agentRowOf, summaryOf, withUsage } from './agent-rows.ts';
import { prepareAgentReads, prepareAgentWrites } from './agent-statements.ts';
import { agentText } from './agent-text.ts';
import type { SqliteAgentVersionStore } from './sqlite-agent-version-store.ts';

const DAY_MS = 86_400_000;

type PageStatements = ReturnType<typeof prepareAgentReads>['every'];

type PageValues = Parameters<PageStatements['rows']['all']>[0];

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

  findText(
    scope: Scope,
    agentId: string,
    now: Date,
  ): { readonly text: string; readonly updatedAt: Date } | undefined {
    const values = { ...scope, id: agentId, midnight: midnightMs(now) };
    const row = this.#database.read(() => this.#reads.findText.get(values));
    if (row === undefined) return undefined;
    return { text: agentText(row), updatedAt: new Date(row.updated_at) };
  }

  list(scope: Scope, query: AgentQuery, now: Date): AgentPage {
    const { found, total } = this.#page(scope, query, now, ({ rows }, values) => rows.all(values));
    return { agents: found.map(summaryOf), total };
  }

  listText(
    scope: Scope,
    query: AgentQuery,
    now: Date,
  ): { readonly items: string; readonly total: number } {
    const { found, total } = this.#page(scope, query, now, ({ texts }, values) =>
      texts.all(values),
    );
    return { items: found.map(agentText).join(','), total };
  }

  findByPhoneNumber(phoneNumber: string): Agent | undefined {
    const row = this.#database.read(() => this.#reads.byNumber.get({ phoneNumber }));
    return row === undefined ? undefined : agentOf(row);
  }

  /** One agent more than asked for shows whether there are more: only then somebody has to count them. */
  #page<Row>(
    scope: Scope,
    { status, limit, offset }: AgentQuery,
    now: Date,
    read: (page: PageStatements, values: PageValues) => readonly Row[],
  ): { readonly found: readonly Row[]; readonly total: number } {
    const values = { ...scope, status, limit: limit + 1, offset, midnight: midnightMs(now) };
    const page = status === undefined ? this.#reads.every : this.#reads.byStatus;
    return this.#database.read(() => {
      const rows = read(page, values);
      const isLast = rows.length <= limit && (rows.length > 0 || offset === 0);
      const total = isLast ? offset + rows.length : (page.total.get(values)?.n ?? 0);
      return { found: rows.slice(0, limit), total };
    });
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
