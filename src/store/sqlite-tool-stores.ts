/** Custom tools and MCP servers in SQLite, and the names that they share. */
import { sql } from 'kysely';
import type { Scope } from '../domain/agent/agent.ts';
import type { PageRange } from '../domain/ids.ts';
import { conflict } from '../domain/service-error.ts';
import { type CustomTool, type CustomToolStore, TOOL_LIMITS } from '../domain/tool/custom-tool.ts';
import { MCP_LIMITS, type McpServer, type McpServerStore } from '../domain/tool/mcp-server.ts';
import type { SecretBox } from '../lib/secrets.ts';
import { inScope, type Queries } from './queries.ts';
import { NamedRecords } from './sqlite/named-records.ts';
import { build } from './sqlite/schema.ts';

/** Keeps custom tools in SQLite. */
export class SqliteCustomToolStore implements CustomToolStore {
  readonly #database: Queries;
  readonly #tools: NamedRecords<CustomTool>;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    const format = { json: ['parameters', 'headers'] } as const;
    this.#tools = new NamedRecords(database, { table: 'custom_tools', box, format });
  }

  async insert(tool: CustomTool): Promise<void> {
    const limit = { kind: 'tool', max: TOOL_LIMITS.toolsMax };
    await this.#database.transaction(async (transaction) => {
      await requireFreeName(transaction, tool, { kind: 'tool', name: tool.name });
      await this.#tools.on(transaction).insert(tool, limit);
    });
  }

  update(tool: CustomTool): Promise<void> {
    return this.#tools.update(tool);
  }

  async delete(scope: Scope, name: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await requireUnlisted(transaction, scope, { kind: 'tool', name });
      await this.#tools.on(transaction).delete(scope, name);
    });
  }

  find(scope: Scope, name: string): Promise<CustomTool | undefined> {
    return this.#tools.find(scope, name);
  }

  findAll(scope: Scope, names: readonly string[]): Promise<readonly CustomTool[]> {
    return this.#tools.findAll(scope, names);
  }

  async list(
    scope: Scope,
    page: PageRange,
  ): Promise<{ readonly tools: readonly CustomTool[]; readonly total: number }> {
    const { records: tools, total } = await this.#tools.page(scope, page);
    return { tools, total };
  }
}

/** Keeps MCP servers in SQLite. */
export class SqliteMcpServerStore implements McpServerStore {
  readonly #database: Queries;
  readonly #servers: NamedRecords<McpServer>;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    const format = { json: ['headers', 'allowedTools'] } as const;
    this.#servers = new NamedRecords(database, { table: 'mcp_servers', box, format });
  }

  async insert(server: McpServer): Promise<void> {
    const limit = { kind: 'MCP server', max: MCP_LIMITS.serversMax };
    await this.#database.transaction(async (transaction) => {
      await requireFreeName(transaction, server, { kind: 'MCP server', name: server.name });
      await this.#servers.on(transaction).insert(server, limit);
    });
  }

  update(server: McpServer): Promise<void> {
    return this.#servers.update(server);
  }

  async delete(scope: Scope, name: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await requireUnlisted(transaction, scope, { kind: 'MCP server', name });
      await this.#servers.on(transaction).delete(scope, name);
    });
  }

  find(scope: Scope, name: string): Promise<McpServer | undefined> {
    return this.#servers.find(scope, name);
  }

  findAll(scope: Scope, names: readonly string[]): Promise<readonly McpServer[]> {
    return this.#servers.findAll(scope, names);
  }

  newest(limit: number): Promise<readonly McpServer[]> {
    const query = build.selectFrom('mcp_servers').selectAll();
    return this.#servers.read(query.orderBy('updated_at', 'desc').limit(limit));
  }

  async list(
    scope: Scope,
    page: PageRange,
  ): Promise<{ readonly servers: readonly McpServer[]; readonly total: number }> {
    const { records: servers, total } = await this.#servers.page(scope, page);
    return { servers, total };
  }
}

/** @throws {ServiceError} CONFLICT when a custom tool or an MCP server has the name. */
async function requireFreeName(
  database: Queries,
  scope: Scope,
  { kind, name }: { readonly kind: string; readonly name: string },
): Promise<void> {
  for (const table of ['custom_tools', 'mcp_servers'] as const) {
    const named = build.selectFrom(table).select('name').where(inScope(scope));
    if ((await database.get(named.where('name', '=', name))) === undefined) continue;
    const holder = table === 'custom_tools' ? 'a tool' : 'an MCP server';
    throw conflict(`Cannot make the ${kind} "${name}": there is ${holder} with this name`);
  }
}

/** @throws {ServiceError} CONFLICT when an agent lists the name among its tools. */
async function requireUnlisted(
  database: Queries,
  scope: Scope,
  { kind, name }: { readonly kind: string; readonly name: string },
): Promise<void> {
  const user = await database.get(
    build
      .selectFrom('agents')
      .select('name')
      .where(inScope(scope))
      .where(sql<boolean>`exists (select 1 from json_each(agents.tools) where value = ${name})`)
      .limit(1),
  );
  if (user === undefined) return;
  throw conflict(`Cannot delete the ${kind} "${name}": the agent "${user.name}" lists it`);
}
