import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import type { CallQuery } from '../../src/domain/call/call.ts';
import { searchOf } from '../../src/domain/call/call-search.ts';
import { buildCall } from '../support/store/build-call.ts';
import { foundIn } from '../support/store/found-in.ts';
import {
  addAccount,
  openTestStore,
  STORE_NOW_MS,
  type TestStore,
} from '../support/store/test-store.ts';

const LIVE: Scope = { accountId: 'acct_1', environment: 'live' };

const FIELDS = { endedAt: null, answeredAt: new Date(STORE_NOW_MS) };

/** A call with words that ends, unless `isLive`. */
async function addCall(
  store: TestStore,
  fields: Parameters<typeof buildCall>[0] & { readonly id: string },
  {
    words = [],
    isLive = false,
  }: { readonly words?: readonly string[]; readonly isLive?: boolean } = {},
): Promise<void> {
  const call = buildCall({ ...FIELDS, status: 'in_progress', ...fields });
  await store.calls.insert(call, []);
  for (const text of words) await say(store, call.id, text);
  if (isLive) return;
  const endedAt = new Date(STORE_NOW_MS + 60_000);
  const over = { status: 'completed', endReason: 'user_hangup', ...fields, endedAt } as const;
  await store.calls.update({ ...call, ...over }, []);
}

function say(store: TestStore, callId: string, text: string): Promise<void> {
  return store.calls.addTranscriptEntry(callId, { role: 'user', text, at: new Date(STORE_NOW_MS) });
}

async function found(store: TestStore, query: Partial<CallQuery>, scope = LIVE) {
  const { calls, total } = await store.calls.list(scope, { limit: 20, offset: 0, ...query });
  expect(total).toBe(calls.length);
  return calls.map(({ id }) => id).sort();
}

function search(store: TestStore, text: string, scope = LIVE): Promise<readonly string[]> {
  const wanted = searchOf(text);
  if (wanted === undefined) throw new Error(`Cannot search for "${text}"`);
  return found(store, { search: wanted }, scope);
}

test('finds calls by words of either party, all of them, in any order, without accents and case', async () => {
  const store = await openTestStore();
  await addCall(store, { id: 'call_1' }, { words: ['I want a refund', 'for the Café chairs'] });
  await addCall(store, { id: 'call_2' }, { words: ['a refund, please'] });
  await addCall(store, { id: 'call_3' });

  expect(await search(store, 'REFUND')).toEqual(['call_1', 'call_2']);
  expect(await search(store, 'cafe refund')).toEqual(['call_1']);
  expect(await search(store, 'ref')).toEqual(['call_1', 'call_2']);
  expect(await search(store, 're')).toEqual([]);
  expect(await search(store, 'lawyer')).toEqual([]);
});

test('a call is found by its words once it is over, and by words that come after that', async () => {
  const store = await openTestStore();
  await addCall(store, { id: 'call_1' }, { words: ['tulips'], isLive: true });
  expect(await search(store, 'tulips')).toEqual([]);
  await addCall(store, { id: 'call_2' }, { words: ['roses'] });
  await say(store, 'call_2', 'and tulips');
  expect(await search(store, 'tulips')).toEqual(['call_2']);
  expect(await search(store, 'roses tulips')).toEqual(['call_2']);
});

test('another account and the other environment find nothing', async () => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  await addCall(store, { id: 'call_1' }, { words: ['tulips'] });
  expect(await search(store, 'tulips', { ...LIVE, accountId: 'acct_2' })).toEqual([]);
  expect(await search(store, 'tulips', { ...LIVE, environment: 'test' })).toEqual([]);
  expect(await search(store, 'call_1', { ...LIVE, accountId: 'acct_2' })).toEqual([]);
});

test('finds by digits of either number, and by the beginning of an id', async () => {
  const store = await openTestStore();
  await addCall(store, { id: 'call_11', from: '+390612345678', to: '+15550100001' });
  await addCall(store, { id: 'call_12', from: '+15550100001', to: '+4930123456' });
  expect(await search(store, '0612 345')).toEqual(['call_11']);
  expect(await search(store, '+1 555')).toEqual(['call_11', 'call_12']);
  expect(await search(store, 'call_1')).toEqual(['call_11', 'call_12']);
  expect(await search(store, 'call_12')).toEqual(['call_12']);
});

test('filters by what calls ended with, alone and together', async () => {
  const store = await openTestStore();
  const sad = { sentiment: 'negative', durationSeconds: 90, answeredBy: 'human' } as const;
  await addCall(store, { id: 'call_1', ...sad }, { words: ['tulips'] });
  await addCall(store, { id: 'call_2', endReason: 'timeout', durationSeconds: 10 });
  expect(await found(store, { sentiment: 'negative' })).toEqual(['call_1']);
  expect(await found(store, { answeredBy: 'human' })).toEqual(['call_1']);
  expect(await found(store, { endReason: 'timeout' })).toEqual(['call_2']);
  expect(await found(store, { minDurationSeconds: 90 })).toEqual(['call_1']);
  expect(await found(store, { maxDurationSeconds: 89 })).toEqual(['call_2']);
  expect(await found(store, { minDurationSeconds: 11, maxDurationSeconds: 89 })).toEqual([]);
  expect(await found(store, { endReason: 'timeout', sentiment: 'negative' })).toEqual([]);
});

test('tags and notes are replaced field by field, and go with their call', async () => {
  const store = await openTestStore();
  await addCall(store, { id: 'call_1' });
  const now = new Date(STORE_NOW_MS);
  await store.callNotes.change('call_1', { tags: ['vip', 'follow-up', 'vip'] });
  const note = await store.callNotes.change('call_1', { note: 'Ring back.' });
  expect(note).toEqual({ tags: ['follow-up', 'vip'], note: 'Ring back.' });
  expect(await found(store, { tag: 'vip' })).toEqual(['call_1']);
  expect(await found(store, { tag: 'VIP' })).toEqual([]);
  await store.callNotes.change('call_1', { tags: [] });
  expect(await found(store, { tag: 'vip' })).toEqual([]);
  await store.erasures.erase('call_1', {
    id: 'ers_1',
    ...LIVE,
    kind: 'call',
    askedBy: 'key_1',
    askedAt: now,
  });
  expect(await store.callNotes.ofCalls(['call_1'])).toEqual(new Map());
});

test('an erased call leaves its words neither in the index nor in the file', async () => {
  const store = await openTestStore();
  await addCall(store, { id: 'call_1' }, { words: ['xylophone'] });
  const order = { id: 'ers_1', ...LIVE, kind: 'call', askedBy: 'key_1' } as const;
  expect(foundIn(store.folder, 'xylophone')).not.toEqual([]);

  await store.erasures.erase('call_1', { ...order, askedAt: new Date(STORE_NOW_MS) });
  await store.leftovers.emptyLog();

  expect(await search(store, 'xylophone')).toEqual([]);
  expect(foundIn(store.folder, 'xylophone')).toEqual([]);
});

test('whatever is typed, a search is answered and finds nothing that was not said', async () => {
  const store = await openTestStore();
  await addCall(store, { id: 'call_1' }, { words: ['tulips AND roses'] });
  const syntax = fc.constantFrom(
    '"',
    "'",
    '*',
    ':',
    'NEAR(',
    ')',
    'AND',
    'OR',
    'NOT',
    '^',
    '-',
    '{',
    '\\',
    'words',
  );
  const typed = fc.oneof(
    fc.string(),
    fc.array(syntax).map((parts) => parts.join(' ')),
  );
  await fc.assert(
    fc.asyncProperty(typed, async (text) => {
      const wanted = searchOf(text);
      if (wanted === undefined) return;
      const { total } = await store.calls.list(LIVE, { limit: 1, offset: 0, search: wanted });
      const isSaid =
        wanted.kind === 'words' &&
        wanted.words.every(({ word }) => 'tulips and roses'.includes(word.toLowerCase()));
      if (total > 0 && wanted.kind === 'words') expect(isSaid).toBe(true);
    }),
    { numRuns: 300 },
  );
});
