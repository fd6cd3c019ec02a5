/** Custom tools and MCP servers in SQLite, and the names that they share. */
import { sql } from 'kysely';
import type { Scope } from '../domain/agent/agent.ts';
import { conflict } from '../domain/service-error.ts';
import { type CustomTool, type CustomToolStore, TOOL_LIMITS } from '../domain/tool/custom-tool.ts';
import { MCP_LIMITS, type McpServer, type McpServerStore } from '../domain/tool/mcp-server.ts';
import type { SecretBox } from '../lib/secrets.ts';
import { inScope, type Queries } from './queries.ts';
import { NamedRecords } from './sqlite/named-records.ts';
import { build } from './sqlite/schema.ts';

/** Keeps custom tools in SQLite. */
export class SqliteCustomToolStore extends NamedRecords<CustomTool> implements CustomToolStore {
  constructor(database: Queries, box: SecretBox) {
    const format = { json: ['parameters', 'headers'] } as const;
    const rules = rulesOf('tool', TOOL_LIMITS.toolsMax);
    super(database, { table: 'custom_tools', box, format, ...rules });
  }
}

/** Keeps MCP servers in SQLite. */
export class SqliteMcpServerStore extends NamedRecords<McpServer> implements McpServerStore {
  constructor(database: Queries, box: SecretBox) {
    const format = { json: ['headers', 'allowedTools'] } as const;
    const rules = rulesOf('MCP server', MCP_LIMITS.serversMax);
    super(database, { table: 'mcp_servers', box, format, ...rules });
  }

  newest(limit: number): Promise<readonly McpServer[]> {
    const query = build.selectFrom('mcp_servers').selectAll();
    return this.read(query.orderBy('updated_at', 'desc').limit(limit));
  }
}

/** Agents list both kinds by name, so no two may share one. */
function rulesOf(kind: string, max: number) {
  return {
    ...{ kind, max },
    requireFree: (database: Queries, record: Scope & { readonly name: string }) =>
      requireFreeName(database, record, { kind, name: record.name }),
    release: (database: Queries, scope: Scope, name: string) =>
      requireUnlisted(database, scope, { kind, name }),
  };
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
