/** Records that customers name, one table a kind, with their sealed columns: custom tools, MCP servers, SMS gateways, calendars. */
import type { Compilable } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { PageRange } from '../../domain/ids.ts';
import { conflict } from '../../domain/service-error.ts';
import type { SecretBox } from '../../lib/secrets.ts';
import { countOf, inScope, type Queries } from '../queries.ts';
import { type Format, type RowOf, recordOf, rowOf } from './rows.ts';
import { build, type Tables } from './schema.ts';
import { opened, sealed } from './sealed-columns.ts';

/** Tables with a name that is unique in an account and environment. */
type NamedTable = 'calendars' | 'custom_tools' | 'mcp_servers' | 'sms_gateways';

type NamedRow = Tables[NamedTable];

/** The table whose rows are those of the record; this is what the casts below rest on. */
type TableOf<Fields> = {
  [Table in NamedTable]: Tables[Table] extends RowOf<Fields> ? Table : never;
}[NamedTable];

interface Options<Fields> {
  readonly table: TableOf<Fields>;
  readonly box: SecretBox;
  readonly format: Format<Fields>;
}

/** Reads and writes the records of a table. Rules of their kind are its store's. */
export class NamedRecords<Fields extends Scope & { readonly name: string }> {
  readonly #database: Queries;
  readonly #options: Options<Fields>;
  readonly #table: NamedTable;

  constructor(database: Queries, options: Options<Fields>) {
    this.#database = database;
    this.#options = options;
    this.#table = options.table;
  }

  /** The same records inside a transaction. */
  on(transaction: Queries): NamedRecords<Fields> {
    return new NamedRecords(transaction, this.#options);
  }

  /**
   * @param limit.kind what such a record is called.
   * @throws {ServiceError} CONFLICT when its name is taken, or there are `max` already.
   */
  async insert(
    record: Fields,
    { kind, max }: { readonly kind: string; readonly max: number },
  ): Promise<void> {
    const { name } = record;
    await this.#database.transaction(async (transaction) => {
      const records = this.on(transaction);
      if ((await records.find(record, name)) !== undefined) {
        throw conflict(`Cannot make the ${kind} "${name}": there is one with this name`);
      }
      if ((await records.count(record)) >= max) {
        throw conflict(`Cannot make the ${kind}: there are ${max} already`);
      }
      await transaction.run(build.insertInto(this.#table).values(this.#rowOf(record)));
    });
  }

  /** Saves every field. */
  async update(record: Fields): Promise<void> {
    const update = build.updateTable(this.#table).set(this.#rowOf(record));
    await this.#database.run(update.where(inScope(record)).where('name', '=', record.name));
  }

  async delete(scope: Scope, name: string): Promise<void> {
    const query = build.deleteFrom(this.#table).where(inScope(scope));
    await this.#database.run(query.where('name', '=', name));
  }

  async find(scope: Scope, name: string): Promise<Fields | undefined> {
    return (await this.findAll(scope, [name]))[0];
  }

  /** Those of the names that exist, in no order. */
  async findAll(scope: Scope, names: readonly string[]): Promise<readonly Fields[]> {
    if (names.length === 0) return [];
    return this.read(this.#of(scope).selectAll().where('name', 'in', names));
  }

  /** By name. */
  async page(
    scope: Scope,
    { limit, offset }: PageRange,
  ): Promise<{ readonly records: readonly Fields[]; readonly total: number }> {
    const page = this.#of(scope).selectAll().orderBy('name').limit(limit).offset(offset);
    return { records: await this.read(page), total: await this.count(scope) };
  }

  count(scope: Scope): Promise<number> {
    return countOf(this.#database, this.#of(scope));
  }

  /** The records of a query of all columns. */
  async read(query: Compilable<NamedRow>): Promise<readonly Fields[]> {
    return (await this.#database.all(query)).map((row) => this.#recordOf(row));
  }

  #of(scope: Scope) {
    return build.selectFrom(this.#table).where(inScope(scope));
  }

  #rowOf(record: Fields): NamedRow {
    return sealed(this.#options.box, this.#table, rowOf(record)) as unknown as NamedRow;
  }

  #recordOf(row: NamedRow): Fields {
    const { box, format } = this.#options;
    return recordOf<Fields>(opened(box, this.#table, row as unknown as RowOf<Fields>), format);
  }
}
