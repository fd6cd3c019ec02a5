/** MCP servers in SQLite. */
import type { Scope } from '../../domain/agent/agent.ts';
import { MCP_LIMITS, type McpServer, type McpServerStore } from '../../domain/tool/mcp-server.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Queries } from '../queries.ts';
import { type RowOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';
import { opened, sealed } from '../sqlite/sealed-columns.ts';
import { conflict, requireFreeName, requireUnlisted } from './tool-names.ts';

/** Keeps MCP servers in SQLite. */
export class SqliteMcpServerStore implements McpServerStore {
  readonly #database: Queries;
  readonly #box: SecretBox;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    this.#box = box;
  }

  async insert(server: McpServer): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await requireFreeName(transaction, server, { kind: 'MCP server', name: server.name });
      if ((await countOf(transaction, server)) >= MCP_LIMITS.serversMax) {
        throw conflict(`Cannot make the MCP server: there are ${MCP_LIMITS.serversMax} already`);
      }
      await transaction.run(
        build.insertInto('mcp_servers').values(sealed(this.#box, 'mcp_servers', rowOf(server))),
      );
    });
  }

  async update(server: McpServer): Promise<void> {
    await this.#database.run(
      build
        .updateTable('mcp_servers')
        .set(sealed(this.#box, 'mcp_servers', rowOf(server)))
        .where('account_id', '=', server.accountId)
        .where('environment', '=', server.environment)
        .where('name', '=', server.name),
    );
  }

  async delete(scope: Scope, name: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await requireUnlisted(transaction, scope, { kind: 'MCP server', name });
      await transaction.run(
        build
          .deleteFrom('mcp_servers')
          .where('account_id', '=', scope.accountId)
          .where('environment', '=', scope.environment)
          .where('name', '=', name),
      );
    });
  }

  async find(scope: Scope, name: string): Promise<McpServer | undefined> {
    const row = await this.#database.get(serversOf(scope).selectAll().where('name', '=', name));
    return row === undefined ? undefined : serverOf(this.#box, row);
  }

  async findAll(scope: Scope, names: readonly string[]): Promise<readonly McpServer[]> {
    if (names.length === 0) return [];
    const named = serversOf(scope)
      .selectAll()
      .where('name', 'in', [...names]);
    return (await this.#database.all(named)).map((row) => serverOf(this.#box, row));
  }

  async newest(limit: number): Promise<readonly McpServer[]> {
    const newest = build
      .selectFrom('mcp_servers')
      .selectAll()
      .orderBy('updated_at', 'desc')
      .limit(limit);
    return (await this.#database.all(newest)).map((row) => serverOf(this.#box, row));
  }

  async list(
    scope: Scope,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly servers: readonly McpServer[]; readonly total: number }> {
    const page = serversOf(scope).selectAll().orderBy('name').limit(limit).offset(offset);
    return {
      servers: (await this.#database.all(page)).map((row) => serverOf(this.#box, row)),
      total: await countOf(this.#database, scope),
    };
  }
}

async function countOf(database: Queries, scope: Scope): Promise<number> {
  const count = serversOf(scope).select((expression) => expression.fn.countAll<number>().as('n'));
  return (await database.get(count))?.n ?? 0;
}

function serversOf({ accountId, environment }: Scope) {
  return build
    .selectFrom('mcp_servers')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment);
}

function serverOf(box: SecretBox, row: RowOf<McpServer>): McpServer {
  return recordOf<McpServer>(opened(box, 'mcp_servers', row), {
    json: ['headers', 'allowedTools'],
  });
}
