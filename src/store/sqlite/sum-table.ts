/** A table of sums: rows that are added to and taken from, found by their key, and gone when they count no call. */
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { build } from './schema.ts';
import type { Statement, Take } from './statement.ts';

/** Which columns of a table are its key and which are added up; together they are all of its columns. */
interface SumColumns<Row> {
  readonly key: readonly (keyof Row & string)[];
  readonly sums: readonly (keyof Row & string)[];
}

/** Writes one table of sums. Everything runs inside a transaction of the caller's. */
export class SumTable<Row extends { readonly calls: number }> {
  readonly #columns: SumColumns<Row>;
  readonly #add: Statement<Row, unknown>;
  readonly #forgetEmpty: Statement<Row, unknown>;

  constructor(database: Database, table: string, columns: SumColumns<Row>) {
    this.#columns = columns;
    this.#add = database.prepare((take: Take<Row>) => ({
      compile: () => upsert(table, columns, take).compile(build),
    }));
    this.#forgetEmpty = database.prepare((take: Take<Row>) => ({
      compile: () => deleteEmpty(table, columns, take).compile(build),
    }));
  }

  /** Takes away what was counted and adds what is to be counted; undefined counts nothing. */
  replace(was: Row | undefined, is: Row | undefined): void {
    if (was !== undefined && is !== undefined && this.#isSameKey(was, is)) {
      this.#change(is, was, is);
      return;
    }
    if (was !== undefined) {
      this.#change(was, was, undefined);
      this.#forgetEmpty.run(was);
    }
    if (is !== undefined) this.#change(is, undefined, is);
  }

  #isSameKey(was: Row, is: Row): boolean {
    return this.#columns.key.every((column) => was[column] === is[column]);
  }

  #change(key: Row, was: Row | undefined, is: Row | undefined): void {
    const differences = this.#columns.sums.map(
      (column) => [column, Number(is?.[column] ?? 0) - Number(was?.[column] ?? 0)] as const,
    );
    if (differences.every(([, difference]) => difference === 0)) return;
    this.#add.run({ ...key, ...Object.fromEntries(differences) });
  }
}

function upsert<Row>(table: string, { key, sums }: SumColumns<Row>, take: Take<Row>) {
  const columns = [...key, ...sums];
  const kept = (column: string) => sql.ref(`${table}.${column}`);
  return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values (${sql.join(columns.map((column) => take(column)))})
    on conflict (${sql.join(key.map((column) => sql.ref(column)))}) do update set ${sql.join(
      sums.map(
        (column) => sql`${sql.ref(column)} = ${kept(column)} + ${sql.ref(`excluded.${column}`)}`,
      ),
    )}`;
}

function deleteEmpty<Row>(table: string, { key }: SumColumns<Row>, take: Take<Row>) {
  const isTheRow = key.map((column) => sql`${sql.ref(column)} = ${take(column)}`);
  return sql`delete from ${sql.table(table)} where ${sql.join(isTheRow, sql` and `)} and calls = 0`;
}
