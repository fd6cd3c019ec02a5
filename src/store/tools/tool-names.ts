/** Names that custom tools and MCP servers share, and the agents that list them. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Queries } from '../queries.ts';
import { build } from '../sqlite/schema.ts';

/** @throws {ServiceError} CONFLICT when a custom tool or an MCP server has the name. */
export async function requireFreeName(
  database: Queries,
  { accountId, environment }: Scope,
  { kind, name }: { readonly kind: string; readonly name: string },
): Promise<void> {
  for (const table of ['custom_tools', 'mcp_servers'] as const) {
    const taken = await database.get(
      build
        .selectFrom(table)
        .select('name')
        .where('account_id', '=', accountId)
        .where('environment', '=', environment)
        .where('name', '=', name),
    );
    if (taken === undefined) continue;
    const holder = table === 'custom_tools' ? 'a tool' : 'an MCP server';
    throw conflict(`Cannot make the ${kind} "${name}": there is ${holder} with this name`);
  }
}

/** @throws {ServiceError} CONFLICT when an agent lists the name among its tools. */
export async function requireUnlisted(
  database: Queries,
  { accountId, environment }: Scope,
  { kind, name }: { readonly kind: string; readonly name: string },
): Promise<void> {
  const user = await database.get(
    build
      .selectFrom('agents')
      .select('name')
      .where('account_id', '=', accountId)
      .where('environment', '=', environment)
      .where(sql<boolean>`exists (select 1 from json_each(agents.tools) where value = ${name})`)
      .limit(1),
  );
  if (user === undefined) return;
  throw conflict(`Cannot delete the ${kind} "${name}": the agent "${user.name}" lists it`);
}

export function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', message);
}
