/** The port by which stores reach their database: queries of Kysely's builder, and transactions; with helpers for queries. */

import {
  type Compilable,
  type Expression,
  expressionBuilder,
  type SelectQueryBuilder,
  type SqlBool,
} from 'kysely';
import type { Scope } from '../domain/agent/agent.ts';
import type { Page, PageRange } from '../domain/ids.ts';
import type { Tables } from './sqlite/schema.ts';

/**
 * Runs queries: the database, or one transaction on it. Every method rejects with `StoreError` when disk or file fail.
 * A query of the database that comes while a transaction is open waits for its end.
 */
export interface Queries {
  /** Every row of a query that Kysely has built. */
  all<Row>(query: Compilable<Row>): Promise<Row[]>;

  /** The first row, undefined when there is none. */
  get<Row>(query: Compilable<Row>): Promise<Row | undefined>;

  /** Runs a statement that returns no rows. @returns how many rows it changed. */
  run(query: Compilable<unknown>): Promise<number>;

  /**
   * Runs `work` as one transaction that holds the write lock from its start; an error rolls it back. Inside a transaction
   * it is a part of that one, and its error must be passed on.
   *
   * @param work Awaits queries of its argument and nothing else. A query of the database itself would wait for the end of
   * the transaction: such a transaction is rolled back, with an error.
   */
  transaction<Result>(work: (transaction: Queries) => Promise<Result>): Promise<Result>;

  /** Calls `effect` once all that was written so far is committed, never where it is rolled back. */
  onCommit(effect: () => void): void;
}

/** Base of the stores on a database, or on a transaction of it. */
export abstract class SqliteStore {
  protected readonly database: Queries;

  constructor(database: Queries) {
    this.database = database;
  }
}

/** The item of a query's first row, undefined when there is none. */
export async function firstOf<Row, Item>(
  database: Queries,
  query: Compilable<Row>,
  itemOf: (row: Row) => Item,
): Promise<Item | undefined> {
  const row = await database.get(query);
  return row === undefined ? undefined : itemOf(row);
}

/** The items of all rows of a query. */
export async function allOf<Row, Item>(
  database: Queries,
  query: Compilable<Row>,
  itemOf: (row: Row) => Item,
): Promise<readonly Item[]> {
  return (await database.all(query)).map((row) => itemOf(row));
}

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

/** One page of a query, with the number of rows that it has in all. */
export async function pageOf<Table extends keyof Tables, Row, Item>(
  database: Queries,
  query: {
    /** Selects no columns yet. */
    readonly every: SelectQueryBuilder<Tables, Table, object>;
    readonly sorted: SelectQueryBuilder<Tables, Table, Row>;
    readonly range: PageRange;
  },
  itemOf: (row: Row) => Item,
): Promise<Page<Item>> {
  const { limit, offset } = query.range;
  const rows = await database.all(query.sorted.limit(limit).offset(offset));
  return { items: rows.map((row) => itemOf(row)), total: await countOf(database, query.every) };
}
