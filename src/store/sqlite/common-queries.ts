/** What the queries of many stores share: the condition of an account and environment, and the count of what a query selects. */
import { type Expression, expressionBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Queries } from '../queries.ts';
import type { Tables } from './schema.ts';

/** The condition on a row of any table whose rows belong to an account and environment. */
export function inScope({ accountId, environment }: Scope): Expression<SqlBool> {
  return expressionBuilder<Tables, 'agents'>().and({ account_id: accountId, environment });
}

/** How many rows a query has that selects no columns yet. */
export async function countOf<Table extends keyof Tables>(
  database: Queries,
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const count = query.select(({ fn }) => fn.countAll<number>().as('n'));
  return (await database.get(count))?.n ?? 0;
}
