/** Opt-outs from SMS in SQLite. */
import type { Scope } from '../../domain/agent/agent.ts';
import type { OptOut, OptOutStore } from '../../domain/sms/opt-out.ts';
import type { Queries } from '../queries.ts';
import { recordOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';

/** Keeps opt-outs in SQLite. */
export class SqliteOptOutStore implements OptOutStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async add({ accountId, environment }: Scope, { number, createdAt }: OptOut): Promise<void> {
    const row = { account_id: accountId, environment, number, created_at: createdAt.getTime() };
    await this.#database.run(build.insertInto('sms_opt_outs').orIgnore().values(row));
  }

  async remove({ accountId, environment }: Scope, number: string): Promise<boolean> {
    const removed = build
      .deleteFrom('sms_opt_outs')
      .where('account_id', '=', accountId)
      .where('environment', '=', environment)
      .where('number', '=', number);
    return (await this.#database.run(removed)) > 0;
  }

  async list(
    scope: Scope,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly optOuts: readonly OptOut[]; readonly total: number }> {
    const page = optOutsOf(scope)
      .select(['number', 'created_at'])
      .orderBy('created_at', 'desc')
      .orderBy('number')
      .limit(limit)
      .offset(offset);
    const total = optOutsOf(scope).select((expression) => expression.fn.countAll<number>().as('n'));
    return {
      optOuts: (await this.#database.all(page)).map((row) => recordOf<OptOut>(row)),
      total: (await this.#database.get(total))?.n ?? 0,
    };
  }
}

/** The opt-outs of an account and environment. */
export function optOutsOf({ accountId, environment }: Scope) {
  return build
    .selectFrom('sms_opt_outs')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment);
}
