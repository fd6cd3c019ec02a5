/** Custom tools in SQLite. */
import type { Scope } from '../../domain/agent/agent.ts';
import {
  type CustomTool,
  type CustomToolStore,
  TOOL_LIMITS,
} from '../../domain/tool/custom-tool.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Queries } from '../queries.ts';
import { type RowOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';
import { opened, sealed } from '../sqlite/sealed-columns.ts';
import { conflict, requireFreeName, requireUnlisted } from './tool-names.ts';

/** Keeps custom tools in SQLite. */
export class SqliteCustomToolStore implements CustomToolStore {
  readonly #database: Queries;
  readonly #box: SecretBox;

  constructor(database: Queries, box: SecretBox) {
    this.#database = database;
    this.#box = box;
  }

  async insert(tool: CustomTool): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await requireFreeName(transaction, tool, { kind: 'tool', name: tool.name });
      if ((await countOf(transaction, tool)) >= TOOL_LIMITS.toolsMax) {
        throw conflict(`Cannot make the tool: there are ${TOOL_LIMITS.toolsMax} already`);
      }
      await transaction.run(
        build.insertInto('custom_tools').values(sealed(this.#box, 'custom_tools', rowOf(tool))),
      );
    });
  }

  async update(tool: CustomTool): Promise<void> {
    await this.#database.run(
      build
        .updateTable('custom_tools')
        .set(sealed(this.#box, 'custom_tools', rowOf(tool)))
        .where('account_id', '=', tool.accountId)
        .where('environment', '=', tool.environment)
        .where('name', '=', tool.name),
    );
  }

  async delete(scope: Scope, name: string): Promise<void> {
    const { accountId, environment } = scope;
    await this.#database.transaction(async (transaction) => {
      await requireUnlisted(transaction, scope, { kind: 'tool', name });
      await transaction.run(
        build
          .deleteFrom('custom_tools')
          .where('account_id', '=', accountId)
          .where('environment', '=', environment)
          .where('name', '=', name),
      );
    });
  }

  async find(scope: Scope, name: string): Promise<CustomTool | undefined> {
    const row = await this.#database.get(toolsOf(scope).selectAll().where('name', '=', name));
    return row === undefined ? undefined : toolOf(this.#box, row);
  }

  async findAll(scope: Scope, names: readonly string[]): Promise<readonly CustomTool[]> {
    if (names.length === 0) return [];
    const named = toolsOf(scope)
      .selectAll()
      .where('name', 'in', [...names]);
    return (await this.#database.all(named)).map((row) => toolOf(this.#box, row));
  }

  async list(
    scope: Scope,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly tools: readonly CustomTool[]; readonly total: number }> {
    const page = toolsOf(scope).selectAll().orderBy('name').limit(limit).offset(offset);
    return {
      tools: (await this.#database.all(page)).map((row) => toolOf(this.#box, row)),
      total: await countOf(this.#database, scope),
    };
  }
}

async function countOf(database: Queries, scope: Scope): Promise<number> {
  const count = toolsOf(scope).select((expression) => expression.fn.countAll<number>().as('n'));
  return (await database.get(count))?.n ?? 0;
}

function toolsOf({ accountId, environment }: Scope) {
  return build
    .selectFrom('custom_tools')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment);
}

function toolOf(box: SecretBox, row: RowOf<CustomTool>): CustomTool {
  return recordOf<CustomTool>(opened(box, 'custom_tools', row), {
    json: ['parameters', 'headers'],
  });
}
