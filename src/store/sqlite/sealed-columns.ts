/** The columns that are sealed in the database, passwords and headers for other servers; and the keys that seal them. */

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { PRIVATE_FILE_MODE } from '../../lib/private-tree.ts';
import { KEY_BYTES, SealError, SecretBox } from '../../lib/secrets.ts';
import { hasCode } from '../../lib/unknown-value.ts';
import type { Queries } from '../queries.ts';

/** Sealed columns by table, with their value once the secret is forgotten. */
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
  /** Name of the record. */
  readonly name: string;
  readonly value: string;
  /** Value of the column once the secret is forgotten. */
  readonly empty: string | null;
}

/**
 * Seals with the newest key all secrets that are not: plain text, and secrets sealed with older keys.
 *
 * @param options.forget Empties secrets that no key opens.
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

/** One key a line, in base64; the first seals. */
const KEY_FILE = 'secrets.key';

/** The file of a database's keys. */
export function keyFileOf(databaseFile: string): string {
  return join(dirname(databaseFile), KEY_FILE);
}

/**
 * The box of a database. Without a key in the settings, the key file has one; a missing file is created.
 *
 * @param secretsKey `SECRETS_KEY`: 32 bytes in base64. Keys of the file open older secrets.
 * @throws {Error} when the file has a line that is no key, or cannot be read or made.
 */
export function openBox(databaseFile: string, secretsKey: string | undefined): SecretBox {
  const file = keyFileOf(databaseFile);
  if (secretsKey !== undefined) return new SecretBox([keyOf(secretsKey), ...readKeys(file)]);
  const [first, ...others] = readKeys(file);
  if (first !== undefined) return new SecretBox([first, ...others]);
  return new SecretBox([makeKey(file)]);
}

/** Makes the file; where another process was quicker, its key counts. */
function makeKey(file: string): Buffer {
  const made = randomBytes(KEY_BYTES);
  try {
    const text = `${made.toString('base64')}\n`;
    writeFileSync(file, text, { mode: PRIVATE_FILE_MODE, flush: true, flag: 'wx' });
    return made;
  } catch (error) {
    const [others] = readKeys(file);
    if (others === undefined) throw error;
    return others;
  }
}

/** The keys of a file; none when it is missing. @throws {Error} naming the line that is no key. */
export function readKeys(file: string): readonly Buffer[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const key = keyOf(line.trim());
    if (key.length === KEY_BYTES) return [key];
    throw new Error(`Cannot use "${file}": line ${index + 1} is not 32 bytes in base64`);
  });
}

/** Adds keys of a backup before the existing ones, each once; does nothing without keys. */
export function addKeys(file: string, keys: readonly Buffer[]): void {
  if (keys.length === 0) return;
  const known = [...keys, ...readKeys(file)].map((key) => key.toString('base64'));
  const text = [...new Set(known)].map((key) => `${key}\n`).join('');
  writeFileSync(file, text, { mode: PRIVATE_FILE_MODE, flush: true });
}

function keyOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
