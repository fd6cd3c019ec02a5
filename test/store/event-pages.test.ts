import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { EventQuery } from '../../src/domain/webhook/service-event.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { leastMs } from '../support/time/least-ms.ts';
import { SCOPE } from '../support/webhook/webhook-world.ts';

const DAY_MS = 86_400_000;

/** So many events a second apart, of which each 10,000th is a bridge. */
async function openWithEvents(count: number): Promise<TestStore> {
  const store = await openTestStore();
  const sqlite = new Sqlite(store.file);
  sqlite
    .prepare(
      `with recursive n(value) as (select 1 union all select value + 1 from n where value < ?)
      insert into events (id, account_id, environment, kind, created_at, body)
      select 'evt_' || value, 'acct_1', 'live',
        iif(value % 10000 = 0, 'call.bridged', 'call.started'), ? + value * 1000, '{}' from n`,
    )
    .run(count, STORE_NOW_MS);
  sqlite.close();
  return store;
}

/** Follows the pages to the end of the ledger. */
async function readAll({ events }: TestStore, query: Partial<EventQuery>) {
  const pages: string[][] = [];
  let afterPosition = 0;
  for (;;) {
    const page = await events.page(SCOPE, { limit: 100, ...query, afterPosition });
    pages.push(page.events.map(({ id }) => id));
    afterPosition = page.nextPosition;
    if (!page.hasMore) return { pages, ids: pages.flat(), end: afterPosition };
  }
}

test('EventStore.page looks at ten thousand events at most, and the next page goes on', async () => {
  const store = await openWithEvents(25_000);

  const { pages } = await readAll(store, { kind: 'call.bridged' });

  expect(pages).toEqual([['evt_10000'], ['evt_20000'], []]);
});

test('EventStore.page says that there is no more when it has looked at the last event', async () => {
  const store = await openWithEvents(10_000);

  const { pages } = await readAll(store, { kind: 'call.bridged' });

  expect(pages).toEqual([['evt_10000']]);
});

test('EventStore.page begins at the first day asked for, however much is before it', async () => {
  const store = await openWithEvents(25_000);
  const createdFrom = new Date(STORE_NOW_MS + 24_999_000);

  expect((await readAll(store, { createdFrom })).pages).toEqual([['evt_24999', 'evt_25000']]);
});

test('EventStore.page finds an event of a clock that is ahead, which was written before the first of its time', async () => {
  const store = await openWithEvents(10_000);
  const sqlite = new Sqlite(store.file);
  const ahead = sqlite.prepare('update events set created_at = created_at + ? where id = ?');
  ahead.run(9_000_000, 'evt_2');
  ahead.run(3 * DAY_MS, 'evt_1');
  sqlite.close();
  const createdFrom = new Date(STORE_NOW_MS + 8_999_000);

  const { ids } = await readAll(store, { createdFrom });

  expect(ids).toHaveLength(1004);
  expect(ids.slice(0, 3)).toEqual(['evt_1', 'evt_2', 'evt_8999']);
});

test('EventStore.page does not read what others have to find its beginning', async () => {
  const store = await openWithEvents(200_000);
  const { events } = store;
  const sqlite = new Sqlite(store.file);
  const others = sqlite.prepare('select min(+position) from events where created_at >= ?');
  const scope = { ...SCOPE, environment: 'test' } as const;

  const query = { limit: 9, afterPosition: 0, createdFrom: new Date(STORE_NOW_MS) };
  const pageMs = await leastMs(() => events.page(scope, query));
  const scanMs = await leastMs(() => others.get(STORE_NOW_MS));
  sqlite.close();

  expect(pageMs).toBeLessThan(scanMs / 4);
});

test('EventStore.page finds an event that was written later than it says', async () => {
  const store = await openWithEvents(10);
  const sqlite = new Sqlite(store.file);
  sqlite.exec("update events set created_at = 5 where id in ('evt_9', 'evt_3')");
  sqlite.close();

  const early = await readAll(store, { createdBefore: new Date(STORE_NOW_MS) });
  const late = await readAll(store, { createdFrom: new Date(STORE_NOW_MS + 8500) });

  expect([early.ids, late.ids]).toEqual([['evt_3', 'evt_9'], ['evt_10']]);
});

test('EventStore.page keeps its place where nothing is new enough', async () => {
  const store = await openWithEvents(10);
  const createdFrom = new Date(STORE_NOW_MS + DAY_MS);

  expect(await readAll(store, { createdFrom })).toEqual({ pages: [[]], ids: [], end: 0 });
});

test('EventStore.page finds the events of a call at once, wherever they are', async () => {
  const store = await openWithEvents(25_000);
  const sqlite = new Sqlite(store.file);
  sqlite.pragma('foreign_keys = off');
  sqlite.exec("update events set call_id = 'call_1' where id in ('evt_2', 'evt_24000')");
  sqlite.close();

  expect((await readAll(store, { callId: 'call_1' })).pages).toEqual([['evt_2', 'evt_24000']]);
});
