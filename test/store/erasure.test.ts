import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { ErasureOrder } from '../../src/domain/account/erasure.ts';
import { refreshStatistics } from '../../src/store/sqlite/sqlite-file.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { addManyTalks, addTalk, deliverTalk } from '../support/store/build-talk.ts';
import { foundIn } from '../support/store/found-in.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';
import { buildEndpoint, SCOPE } from '../support/webhook/webhook-world.ts';

const NOW = new Date(STORE_NOW_MS);
const [CALLER, WORDS] = ['+390699887766', 'a very private matter'];
const DAY = { firstDay: '2026-11-20', lastDay: '2026-11-20' };

const order = (fields: Partial<ErasureOrder> = {}): ErasureOrder => ({
  id: 'ers_1',
  ...SCOPE,
  kind: 'call',
  askedBy: 'key_1',
  askedAt: NOW,
  ...fields,
});

function rows(store: TestStore, query: string): readonly unknown[] {
  const sqlite = new Sqlite(store.file, { readonly: true });
  const found = sqlite.prepare(query).all();
  sqlite.close();
  return found;
}

/** Every table that has a call's rows, and how many. */
function traces(store: TestStore): Readonly<Record<string, number>> {
  const tables = [
    ...['calls', 'transcript_entries', 'timeline_entries', 'sip_traces', 'events'],
    ...['webhook_deliveries', 'webhook_attempts', 'analysis_jobs', 'call_documents'],
  ];
  const count = (table: string) => (rows(store, `select 1 from ${table}`) as []).length;
  return Object.fromEntries(tables.map((table) => [table, count(table)]));
}

async function openWithTalk(): Promise<TestStore> {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  await addTalk(store, { id: 'call_1', from: CALLER, metadata: { note: WORDS } }, WORDS);
  await deliverTalk(store, 'call_1');
  return store;
}

describe('ErasureStore.erase', () => {
  test('takes all that hangs on a call', async () => {
    const store = await openWithTalk();
    const before = traces(store);

    await store.erasures.erase('call_1', order());

    expect(
      Object.values(before)
        .slice(0, 7)
        .every((count) => count > 0),
    ).toBe(true);
    expect(Object.values(traces(store)).every((count) => count === 0)).toBe(true);
    expect(await store.calls.find(SCOPE, 'call_1')).toBeUndefined();
  });

  test('leaves no word and no number in the database, its log and the index', async () => {
    const store = await openWithTalk();
    // Long texts lie on pages of their own.
    await addTalk(store, { id: 'call_long' }, `${'.'.repeat(9000)} ${WORDS}`);
    expect(foundIn(store.folder, CALLER)).toContain('offhook.db-wal');

    await store.erasures.erase('call_1', order());
    await store.erasures.erase('call_long', order({ id: 'ers_2' }));
    await store.leftovers.emptyLog();

    expect(foundIn(store.folder, CALLER)).toEqual([]);
    const recordings = ['recordings/call_1.wav', 'recordings/call_long.wav'];
    expect([...foundIn(store.folder, WORDS)].sort()).toEqual(recordings);
  });

  test('leaves none of hundreds, whose rows SQLite has moved between pages, once the file is rewritten', async () => {
    const store = await openTestStore();
    await store.webhookEndpoints.insert(buildEndpoint());
    const ids = await addManyTalks(store, { from: CALLER, words: WORDS });

    for (const id of ids) await store.erasures.erase(id, order({ id: `ers_${id}` }));
    expect(await store.leftovers.inPages()).toBe('asked');
    await store.leftovers.compact();
    await store.leftovers.emptyLog();

    const isDatabase = (name: string) => name.startsWith('offhook.db');
    expect(await store.leftovers.inPages()).toBeUndefined();
    expect(foundIn(store.folder, CALLER)).toEqual([]);
    expect(foundIn(store.folder, WORDS).filter(isDatabase)).toEqual([]);
    expect(await store.calls.transcript('call_2')).toHaveLength(2);
  });

  test('leaves what calls add up to, and lists what is there', async () => {
    const store = await openTestStore();
    await store.agents.insert(buildAgent());
    for (const id of ['call_1', 'call_2', 'call_3']) await addTalk(store, { id });
    const sums = async () => ({
      days: await store.analytics.days(SCOPE, DAY),
      ofAgent: await store.analytics.days(SCOPE, { ...DAY, agentId: 'agent_1' }),
      intents: await store.analytics.intents(SCOPE, DAY),
      agent: await store.agents.findWithUsage(SCOPE, 'agent_1', NOW),
    });
    const before = await sums();

    await store.erasures.erase('call_2', order());

    const page = { limit: 10, offset: 0 };
    expect(await sums()).toEqual(before);
    expect(before.agent).toMatchObject({ totalCallsToday: 3, totalMinutesToday: 1 });
    expect(await store.calls.list(SCOPE, page)).toMatchObject({
      calls: [{ id: 'call_3' }, { id: 'call_1' }],
      total: 2,
    });
    expect((await store.calls.list(SCOPE, { ...page, agentId: 'agent_1' })).total).toBe(2);
    expect(
      await store.calls.list(SCOPE, { ...page, status: 'completed', offset: 1 }),
    ).toMatchObject({
      calls: [{ id: 'call_1' }],
      total: 2,
    });
  });

  test('sends nothing more of the call', async () => {
    const store = await openTestStore();
    await store.webhookEndpoints.insert(buildEndpoint());
    const due = () => store.outbox.due('we_1', { now: NOW, limit: 9, except: [] });
    for (const id of ['call_1', 'call_2', 'call_3']) await addTalk(store, { id });
    await store.outbox.fanOut({ limit: 6, now: NOW });
    const before = await due();

    for (const id of ['call_1', 'call_3'])
      await store.erasures.erase(id, order({ id: `ers_${id}` }));
    await store.outbox.fanOut({ limit: 10, now: NOW });

    const idsOf = (deliveries: typeof before) => deliveries.map(({ eventId }) => eventId).sort();
    const ofSecond = ['evt_call.ended_call_2', 'evt_call.started_call_2'];
    const ofFirst = ['evt_call.ended_call_1', 'evt_call.started_call_1'];
    expect(idsOf(before)).toEqual([...ofFirst, ...ofSecond].sort());
    expect(idsOf(await due())).toEqual(ofSecond);
  });

  test('keeps nothing of an attempt that was on its way', async () => {
    const store = await openTestStore();
    await store.webhookEndpoints.insert(buildEndpoint());
    await addTalk(store, { id: 'call_1' });
    await store.outbox.fanOut({ limit: 10, now: NOW });
    const [delivery] = await store.outbox.due('we_1', { now: NOW, limit: 1, except: [] });
    await store.erasures.erase('call_1', order());

    const attempt = { attempt: 1, at: NOW, durationMs: 1, statusCode: 500, error: 'no' };
    const response = { responseText: WORDS, responseHeaders: null, requestHeaders: null };
    const answer = { attempt: { ...attempt, ...response }, isSuccess: false };
    await store.outbox.record(
      [{ deliveryId: delivery?.id ?? '', ...answer, nextAttemptAt: NOW }],
      NOW,
    );

    expect(delivery).toBeDefined();
    expect(traces(store)).toMatchObject({ webhook_attempts: 0, webhook_deliveries: 0 });
    expect(foundIn(store.folder, WORDS)).toEqual([]);
  });

  test('names the recording for deletion, and keeps a tombstone without words', async () => {
    const store = await openWithTalk();

    await store.erasures.erase('call_1', order());

    expect(await store.leftovers.files(9)).toEqual(['recordings/call_1.wav']);
    await store.leftovers.fileGone('recordings/call_1.wav');
    expect(await store.leftovers.files(9)).toEqual([]);
    expect(rows(store, 'select * from erased_calls')).toEqual([
      {
        call_id: 'call_1',
        erasure_id: 'ers_1',
        account_id: 'acct_1',
        environment: 'live',
        agent_id: 'agent_1',
        started_at: STORE_NOW_MS - 60_000,
        duration_seconds: 20,
        erased_at: STORE_NOW_MS,
      },
    ]);
    const counts = { calls: 1, recordings: 1, transcripts: 0 };
    expect(await store.erasures.list(9)).toEqual([{ ...order(), ...counts, finishedAt: NOW }]);
  });

  test('refuses a call that goes on, and one that there is not, and writes nothing', async () => {
    const store = await openTestStore();
    for (const status of ['queued', 'ringing', 'in_progress'] as const) {
      await store.calls.insert(buildCall({ id: `call_${status}`, status }), []);
      const erase = () => store.erasures.erase(`call_${status}`, order());

      await expect(erase()).rejects.toThrow('Cannot delete the call: it is not over');
    }

    await expect(store.erasures.erase('call_none', order())).rejects.toThrow(
      'there is none with this id',
    );
    expect(await store.erasures.list(9)).toEqual([]);
    expect(await store.calls.findById('call_ringing')).toBeDefined();
  });
});

describe('ErasureStore.note', () => {
  const selection = { accountId: 'acct_1', environment: null, number: CALLER };
  const byNumber = order({ kind: 'number', environment: null });

  test('finds calls from and to the number, of both environments, once', async () => {
    const store = await openTestStore();
    await addTalk(store, { id: 'call_from', from: CALLER });
    await addTalk(store, { id: 'call_to', to: CALLER, direction: 'outbound' });
    await addTalk(store, { id: 'call_both', from: CALLER, to: CALLER });
    await addTalk(store, { id: 'call_test', from: CALLER, environment: 'test' });
    await addTalk(store, { id: 'call_other', from: '+390611111111' });
    await store.calls.insert(buildCall({ id: 'call_live', from: CALLER }), []);

    const live = await store.erasures.count({ ...selection, environment: 'live' });
    const counts = await store.erasures.note(selection, byNumber);
    const erased = [await store.erasures.eraseNoted(NOW), await store.erasures.eraseNoted(NOW)];

    expect(live).toEqual({ calls: 3, recordings: 3, callsInProgress: 1 });
    expect(counts).toEqual({ calls: 4, recordings: 4, callsInProgress: 1 });
    expect(erased).toEqual([4, 0]);
    expect(await store.calls.findById('call_other')).toBeDefined();
    expect(await store.calls.findById('call_live')).toBeDefined();
    expect(await store.erasures.list(9)).toMatchObject([
      { calls: 4, recordings: 4, finishedAt: null, environment: null },
    ]);
  });

  test('has a call that went on erased when it is over', async () => {
    const store = await openTestStore();
    const call = buildCall({ id: 'call_1', from: CALLER });
    await store.calls.insert(call, []);
    await store.erasures.note(selection, byNumber);
    await store.erasures.eraseNoted(NOW);

    await store.calls.update(
      { ...call, status: 'failed', endedAt: NOW, endReason: 'no_answer' },
      [],
    );
    const erased = await store.erasures.eraseNoted(NOW);

    expect(erased).toBe(1);
    expect(await store.calls.findById('call_1')).toBeUndefined();
    expect(await store.erasures.list(9)).toMatchObject([
      { calls: 1, recordings: 0, finishedAt: NOW },
    ]);
  });

  test('is over at once where there is nothing, and when another erasure took all', async () => {
    const store = await openTestStore();
    await addTalk(store, { id: 'call_1', from: CALLER });
    await store.erasures.note(
      { ...selection, number: '+15550100009' },
      { ...byNumber, id: 'ers_a' },
    );
    await store.erasures.note(selection, { ...byNumber, id: 'ers_b' });
    await store.erasures.erase('call_1', order({ id: 'ers_c' }));

    await store.erasures.eraseNoted(NOW);

    const finished = (await store.erasures.list(9)).map(({ id, finishedAt }) => [id, finishedAt]);
    expect(finished).toEqual([
      ['ers_c', NOW],
      ['ers_b', NOW],
      ['ers_a', NOW],
    ]);
  });

  test('is done in steps of a few calls', async () => {
    const store = await openTestStore();
    for (let index = 0; index < 45; index += 1)
      await addTalk(store, { id: `call_${index}`, from: CALLER });
    await store.erasures.note(selection, byNumber);

    const steps: unknown[] = [];
    while (steps.length < 4) steps.push(await store.erasures.eraseNoted(NOW));

    expect(steps).toEqual([20, 20, 5, 0]);
  });
});

test('The statistics of SQLite keep no number of a caller', async () => {
  const store = await openTestStore();
  for (let index = 0; index < 40; index += 1)
    await addTalk(store, { id: `call_${index}`, from: CALLER });
  const sqlite = new Sqlite(store.file);
  sqlite.exec('analyze');
  const samples = () => {
    const column = sqlite.prepare("select sample from sqlite_stat4 where tbl = 'calls'").pluck();
    return Buffer.concat(column.all() as Buffer[]).includes(CALLER);
  };
  const before = samples();

  refreshStatistics(sqlite);

  expect([before, samples()]).toEqual([true, false]);
  sqlite.close();
});

test('Leftovers: a fresh database has none', async () => {
  const store = await openTestStore();

  expect(await store.leftovers.files(9)).toEqual([]);
  expect(await store.leftovers.inPages()).toBeUndefined();
  expect(await store.leftovers.sizeBytes()).toBeGreaterThan(100_000);
});
