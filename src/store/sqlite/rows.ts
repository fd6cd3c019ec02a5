/** Records of the domain as rows of SQLite; pure */

// The column of a field has its name in snake_case. Instants are Unix milliseconds in columns named `at` or `…_at`, flags are
// 0 and 1, objects and lists are JSON text.

/** A value as its column holds it. */
type Stored<Value> = Value extends Date | boolean
  ? number
  : Value extends string | number | null
    ? Value
    : string;

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : '';

/** The row of a record. */
export type RowOf<Fields> = {
  readonly [Field in keyof Fields & string as SnakeCase<Field>]: Stored<Fields[Field]>;
};

/** The fields whose values are of a kind, or null. */
type FieldsOf<Fields, Kind> = {
  [Field in keyof Fields]: NonNullable<Fields[Field]> extends Kind ? Field : never;
}[keyof Fields];

/** How a record is read from its row. */
export interface Format<Fields> {
  /** The fields that are JSON. */
  readonly json?: readonly Exclude<FieldsOf<Fields, object>, FieldsOf<Fields, Date>>[];
  readonly flags?: readonly FieldsOf<Fields, boolean>[];
  /** Columns of the table that are not of the record. */
  readonly without?: readonly string[];
}

/** Writes a record as the row of its table. */
export function rowOf<Fields extends object>(record: Fields): RowOf<Fields> {
  const columns = Object.entries(record).map(([field, value]) => [snakeCase(field), stored(value)]);
  return Object.fromEntries(columns);
}

/** Reads a record from a row, which may have more columns where the format names them. */
export function recordOf<Fields>(row: RowOf<Fields>, format: Format<Fields> = {}): Fields {
  const json: readonly unknown[] = format.json ?? [];
  const flags: readonly unknown[] = format.flags ?? [];
  const record: Record<string, unknown> = {};
  for (const [column, value] of Object.entries<unknown>(row)) {
    if (format.without?.includes(column)) continue;
    const field = camelCase(column);
    if (json.includes(field)) record[field] = JSON.parse(String(value));
    else if (flags.includes(field)) record[field] = value === 1;
    else if (typeof value === 'number' && isInstant(column)) record[field] = new Date(value);
    else record[field] = value;
  }
  return record as Fields;
}

/** Makes the function that reads a record from a row in a format. */
export function readerOf<Fields>(format: Format<Fields>): (row: RowOf<Fields>) => Fields {
  return (row) => recordOf<Fields>(row, format);
}

function camelCase(column: string): string {
  return column.replace(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
}

function isInstant(column: string): boolean {
  return column === 'at' || column.endsWith('_at');
}

function stored(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
