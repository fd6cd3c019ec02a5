/** The columns that are sealed in the database: passwords and headers for other servers. */
import { CompiledQuery } from 'kysely';
import { SealError, type SecretBox } from '../../lib/secret-box.ts';
import type { Queries } from '../queries.ts';

/** By table, with what stands in their place once they are forgotten. */
const SEALED = {
  trunks: { password: null },
  custom_tools: { headers: '[]' },
  mcp_servers: { headers: '[]' },
  sms_gateways: { secret: null },
  calendars: { password: null },
} as const satisfies Record<string, Readonly<Record<string, string | null>>>;

type SealedTable = keyof typeof SEALED;

/** A row as the table keeps it. */
export function sealed<Row extends object>(box: SecretBox, table: SealedTable, row: Row): Row {
  return withSecrets(table, row, (text, purpose) => box.seal(text, purpose));
}

/** A row as its store reads it. @throws {SealError} */
export function opened<Row extends object>(box: SecretBox, table: SealedTable, row: Row): Row {
  return withSecrets(table, row, (text, purpose) => box.open(text, purpose));
}

function withSecrets<Row extends object>(
  table: SealedTable,
  row: Row,
  change: (text: string, purpose: string) => string,
): Row {
  const changed = Object.entries(row).map(([column, value]) => {
    const isSecret = column in SEALED[table] && typeof value === 'string';
    return [column, isSecret ? change(value, `${table}.${column}`) : value];
  });
  return Object.fromEntries(changed) as Row;
}

/** A value of a sealed column. */
interface SecretCell {
  readonly table: string;
  readonly column: string;
  readonly rowid: number;
  /** Of the record. */
  readonly name: string;
  readonly value: string;
  /** What stands in its place once it is forgotten. */
  readonly empty: string | null;
}

/**
 * Seals with the newest key what is not: secrets of a version that kept them as they are, and those of older keys.
 *
 * @param options.forget Empties what no key opens.
 * @returns the records whose secret was forgotten, such as `trunks "carrier"`.
 * @throws {Error} naming the first record whose secret no key opens, and what to do.
 */
export async function sealAgain(
  database: Queries,
  box: SecretBox,
  { forget }: { readonly forget: boolean },
): Promise<readonly string[]> {
  const cells = await secretCells(database);
  // As at nearly every start, which must not wait for the write lock of another process.
  if (!forget && cells.every(({ value }) => box.isNewest(value))) return [];
  return database.transaction((transaction) => sealCells(transaction, box, forget));
}

async function sealCells(
  database: Queries,
  box: SecretBox,
  forget: boolean,
): Promise<readonly string[]> {
  const forgotten: string[] = [];
  for (const cell of await secretCells(database)) {
    const kept = keptOf(box, cell.value, `${cell.table}.${cell.column}`);
    if (kept === undefined && !forget) throw notOpened(cell);
    if (kept === undefined) forgotten.push(`${cell.table} "${cell.name}"`);
    if (kept !== cell.value) await setCell(database, cell, kept ?? cell.empty);
  }
  return forgotten;
}

/** The secret as it is to be kept; undefined when no key opens it. */
function keptOf(box: SecretBox, value: string, purpose: string): string | undefined {
  try {
    const text = box.open(value, purpose);
    return box.isNewest(value) ? value : box.seal(text, purpose);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

function notOpened({ table, name }: SecretCell): Error {
  return new Error(
    `Cannot open the secret of "${name}" in ${table}: it was sealed with another key. Put back secrets.key, which lies next to the database, or the SECRETS_KEY of before; where it is lost, run "npm run admin -- forget-secrets" and set these passwords and headers again`,
  );
}

async function secretCells(database: Queries): Promise<readonly SecretCell[]> {
  const cells: SecretCell[] = [];
  for (const [table, columns] of Object.entries(SEALED)) {
    for (const [column, empty] of Object.entries(columns)) {
      const text = `select rowid, name, ${column} as value from ${table} where ${column} is not null`;
      const found = await database.all<Pick<SecretCell, 'rowid' | 'name' | 'value'>>({
        compile: () => CompiledQuery.raw(text),
      });
      cells.push(...found.map((cell) => ({ ...cell, table, column, empty })));
    }
  }
  return cells;
}

async function setCell(
  database: Queries,
  { table, column, rowid }: SecretCell,
  value: string | null,
): Promise<void> {
  const text = `update ${table} set ${column} = ? where rowid = ?`;
  await database.run({ compile: () => CompiledQuery.raw(text, [value, rowid]) });
}
