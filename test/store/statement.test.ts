import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { build } from '../../src/store/sqlite/schema.ts';
import { Statement } from '../../src/store/sqlite/statement.ts';
import { leastMs } from '../support/least-ms.ts';

/** So many runs take a few milliseconds. */
const RUNS = 500;

/** Probes that SQLite has counted: an index on the time, and samples of its values. */
function openProbes(): Sqlite.Database {
  const sqlite = new Sqlite(':memory:');
  sqlite.exec(`create table probes (id integer primary key, probed_at integer);
    create index probes_by_time on probes (probed_at);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
      insert into probes select i, i % 100 from n;
    analyze;`);
  return sqlite;
}

const since = (sqlite: Sqlite.Database) =>
  new Statement<{ from: number; limit: number }, { id: number }>(sqlite, (take) =>
    build
      .selectFrom('probes')
      .select('id')
      .where('probed_at', '>=', take('from'))
      .orderBy('probed_at')
      .limit(take('limit')),
  );

test('Statement puts each value in its place', () => {
  const sqlite = openProbes();

  const rows = since(sqlite).all({ limit: 2, from: 99 });

  expect(rows).toEqual([{ id: 99 }, { id: 199 }]);
});

test('Statement is not planned anew for other values', () => {
  const sqlite = openProbes();
  const statement = since(sqlite);
  const fixed = sqlite.prepare('select id from probes where probed_at >= 99 limit 1');

  const ownMs = leastMs(() => {
    for (let run = 0; run < RUNS; run += 1) statement.all({ from: run % 100, limit: 1 });
  });
  const fixedMs = leastMs(() => {
    for (let run = 0; run < RUNS; run += 1) fixed.all();
  });

  expect(ownMs).toBeLessThan(4 * fixedMs);
});
