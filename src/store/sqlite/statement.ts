/** SQL that Kysely writes once and better-sqlite3 runs often: a prepared statement with named values. */
import type Sqlite from 'better-sqlite3';
import { type Compilable, type RawBuilder, sql } from 'kysely';

/** Stands in the SQL for a value that each run gives. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Puts the value called `name` in this place of the SQL. */
export type Take<Values> = <Name extends keyof Values & string>(
  name: Name,
) => RawBuilder<Values[Name]>;

/** A statement ready to run. Values go in by name, in whichever order the SQL needs them. */
export class Statement<Values, Row> {
  readonly #statement: Sqlite.Statement<unknown[], Row>;
  readonly #parameters: readonly unknown[];

  constructor(sqlite: Sqlite.Database, build: (take: Take<Values>) => Compilable<Row>) {
    // SQLite plans a statement anew whenever a value is bound that its statistics know something about, which takes several
    // times as long as most statements themselves. The plus, which changes nothing, hides from it that the value is one.
    const take = (name: string) => sql`+${new Placeholder(name)}`;
    const compiled = build(take as Take<Values>).compile();
    this.#statement = sqlite.prepare<unknown[], Row>(compiled.sql);
    this.#parameters = compiled.parameters;
  }

  all(values: Values): Row[] {
    return this.#statement.all(...this.#bind(values));
  }

  get(values: Values): Row | undefined {
    return this.#statement.get(...this.#bind(values));
  }

  /** @returns how many rows were changed. */
  run(values: Values): number {
    return this.#statement.run(...this.#bind(values)).changes;
  }

  #bind(values: Values): unknown[] {
    return this.#parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
  }
}

/** A value for every column of a row, for inserts and updates of whole rows. */
export function takeAll<Row, Column extends keyof Row & string>(
  take: Take<Row>,
  columns: readonly Column[],
): { [Name in Column]: RawBuilder<Row[Name]> } {
  const entries = columns.map((column) => [column, take(column)]);
  return Object.fromEntries(entries) as { [Name in Column]: RawBuilder<Row[Name]> };
}
