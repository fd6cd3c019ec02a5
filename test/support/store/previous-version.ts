/** The data folder, answers and documents of the version before: `test/fixtures/previous-version`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import BetterSqlite3 from 'better-sqlite3';
import { extract } from 'tar';

const FIXTURE = join(import.meta.dirname, '../../fixtures/previous-version');
const DAY_MS = 86_400_000;

/** Environment, then path, to the JSON that the version before answered. */
type Answers = Readonly<Record<'live' | 'test', Readonly<Record<string, unknown>>>>;

export interface PreviousFolder {
  readonly dataDir: string;
  readonly answers: Answers;
  /** A key that may only read calls. */
  readonly scopedKey: string;
  /** Id of the call that was in progress when the process was killed. */
  readonly callInProgress: string;
  remove(): void;
}

export function readPrevious(name: 'env.example' | 'webhook-vectors.json'): string {
  return readFileSync(join(FIXTURE, name), 'utf8');
}

export function readPreviousOpenapi(): Readonly<Record<string, unknown>> {
  return JSON.parse(gunzipSync(readFileSync(join(FIXTURE, 'openapi.json.gz'))).toString());
}

/**
 * Unpacks a copy, a day or two old: retention would delete what is older, and a delivery that is due later would not leave.
 * The time of day stays.
 *
 * @param receiverPort where its webhook endpoints on this machine are
 */
export async function unpackPreviousFolder(receiverPort: number): Promise<PreviousFolder> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-previous-'));
  await extract({ file: join(FIXTURE, 'data-folder.tar.gz'), cwd: folder });
  const { madeAt, answers, scopedKey, inProgress } = JSON.parse(
    readFileSync(join(folder, 'answers.json'), 'utf8'),
  );
  const dataDir = join(folder, 'data');
  const daysPassed = Math.floor((Date.now() - Date.parse(madeAt)) / DAY_MS) - 1;
  const database = new BetterSqlite3(join(dataDir, 'offhook.db'));
  moveTimes(database, daysPassed);
  database
    .prepare("update webhook_endpoints set url = replace(url, ':27199/', ?)")
    .run(`:${receiverPort}/`);
  database.close();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { dataDir, answers, scopedKey, callInProgress: inProgress, remove };
}

function moveTimes(database: BetterSqlite3.Database, days: number): void {
  const columns = database
    .prepare<[], { table: string; column: string }>(
      `select tables.name "table", columns.name "column" from sqlite_schema tables, pragma_table_info(tables.name) columns
       where tables.type = 'table' and (columns.name in ('at', 'day') or columns.name like '%\\_at' escape '\\')`,
    )
    .all();
  for (const { table, column } of columns) {
    const by = column === 'day' ? days : days * DAY_MS;
    database.prepare(`update ${table} set ${column} = ${column} + ?`).run(by);
  }
}
