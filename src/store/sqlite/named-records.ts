/** Records that customers name, one table a kind, with their sealed columns: custom tools, MCP servers, SMS gateways, calendars. */
import type { Compilable } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Page, PageRange } from '../../domain/ids.ts';
import type { NamedStore } from '../../domain/named-store.ts';
import { conflict } from '../../domain/service-error.ts';
import type { SecretBox } from '../../lib/secrets.ts';
import { countOf, inScope, type Queries } from '../queries.ts';
import { type Format, type RowOf, recordOf, rowOf } from './rows.ts';
import { build, type Tables } from './schema.ts';
import { opened, sealed } from './sealed-columns.ts';

/** Tables with a name that is unique in an account and environment. */
type NamedTable = 'calendars' | 'custom_tools' | 'mcp_servers' | 'sms_gateways';

type NamedRow = Tables[NamedTable];

/** The tables whose rows fit the record; the casts below rely on this. */
type TableOf<Fields> = {
  [Table in NamedTable]: Tables[Table] extends RowOf<Fields> ? Table : never;
}[NamedTable];

interface Options<Fields> {
  readonly table: TableOf<Fields>;
  readonly box: SecretBox;
  readonly format: Format<Fields>;
  /** Noun of the records in messages. */
  readonly kind: string;
  /** How many an account and environment may have. */
  readonly max: number;
  /** Further names that are taken. @throws {ServiceError} CONFLICT */
  readonly requireFree?: (transaction: Queries, record: Fields) => Promise<void>;
  /** Comes before a record is deleted. @throws {ServiceError} CONFLICT where it must stay. */
  readonly release: (transaction: Queries, scope: Scope, name: string, now: Date) => Promise<void>;
}

/** Reads and writes the records of a table. */
export class NamedRecords<Fields extends Scope & { readonly name: string }>
  implements NamedStore<Fields>
{
  readonly #database: Queries;
  readonly #options: Options<Fields>;
  readonly #table: NamedTable;

  constructor(database: Queries, options: Options<Fields>) {
    this.#database = database;
    this.#options = options;
    this.#table = options.table;
  }

  async insert(record: Fields): Promise<void> {
    const { kind, max, requireFree } = this.#options;
    const { name } = record;
    await this.#database.transaction(async (transaction) => {
      const records = new NamedRecords(transaction, this.#options);
      await requireFree?.(transaction, record);
      if ((await records.find(record, name)) !== undefined) {
        throw conflict(`Cannot make the ${kind} "${name}": there is one with this name`);
      }
      if ((await records.count(record)) >= max) {
        throw conflict(`Cannot make the ${kind}: there are ${max} already`);
      }
      await transaction.run(build.insertInto(this.#table).values(this.#rowOf(record)));
    });
  }

  async update(record: Fields): Promise<void> {
    const update = build.updateTable(this.#table).set(this.#rowOf(record));
    await this.#database.run(update.where(inScope(record)).where('name', '=', record.name));
  }

  async delete(scope: Scope, name: string, now: Date): Promise<void> {
    const query = build.deleteFrom(this.#table).where(inScope(scope));
    await this.#database.transaction(async (transaction) => {
      await this.#options.release(transaction, scope, name, now);
      await transaction.run(query.where('name', '=', name));
    });
  }

  async find(scope: Scope, name: string): Promise<Fields | undefined> {
    return (await this.findAll(scope, [name]))[0];
  }

  async findAll(scope: Scope, names: readonly string[]): Promise<readonly Fields[]> {
    if (names.length === 0) return [];
    return this.read(this.#of(scope).selectAll().where('name', 'in', names));
  }

  async list(scope: Scope, { limit, offset }: PageRange): Promise<Page<Fields>> {
    const page = this.#of(scope).selectAll().orderBy('name').limit(limit).offset(offset);
    return { items: await this.read(page), total: await this.count(scope) };
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
