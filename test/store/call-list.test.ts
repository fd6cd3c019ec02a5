import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import type { Call, CallQuery } from '../../src/domain/call/call.ts';
import { buildCall } from '../support/store/build-call.ts';
import { addAccount, openTestStore } from '../support/store/test-store.ts';

const DAY_MS = 86_400_000;

const FIRST_DAY_MS = Date.UTC(2026, 10, 18);

const callArbitrary = fc.record({
  accountId: fc.constantFrom('acct_1', 'acct_2'),
  environment: fc.constantFrom('live', 'test'),
  agentId: fc.constantFrom('agent_1', 'agent_2'),
  direction: fc.constantFrom('inbound', 'outbound'),
  status: fc.constantFrom('queued', 'ringing', 'in_progress', 'completed', 'failed'),
  createdAt: fc.integer({ min: 0, max: 8 }).map(instant),
  startedAt: fc.option(fc.integer({ min: 0, max: 8 }).map(instant)),
});

const queryArbitrary = fc.record(
  {
    agentId: fc.constantFrom('agent_1', 'agent_2', 'agent_3'),
    status: fc.constantFrom('queued', 'in_progress', 'completed'),
    direction: fc.constantFrom('inbound', 'outbound'),
    startedFrom: fc.integer({ min: 0, max: 8 }).map(instant),
    startedBefore: fc.integer({ min: 0, max: 8 }).map(instant),
    limit: fc.integer({ min: 1, max: 10 }),
    offset: fc.integer({ min: 0, max: 12 }),
  },
  { requiredKeys: ['limit', 'offset'] },
) satisfies fc.Arbitrary<CallQuery>;

/** Quarters of days, so that many calls share an instant. */
function instant(quarter: number): Date {
  return new Date(FIRST_DAY_MS + (quarter * DAY_MS) / 4);
}

/** What the list must be, by the plainest means. */
function naiveList(calls: readonly Call[], scope: Scope, query: CallQuery) {
  const sortAt = (call: Call) => (call.startedAt ?? call.createdAt).getTime();
  const matching = calls
    .filter((call) => call.accountId === scope.accountId)
    .filter((call) => call.environment === scope.environment)
    .filter((call) => query.agentId === undefined || call.agentId === query.agentId)
    .filter((call) => query.status === undefined || call.status === query.status)
    .filter((call) => query.direction === undefined || call.direction === query.direction)
    .filter((call) => sortAt(call) >= (query.startedFrom?.getTime() ?? 0))
    .filter((call) => sortAt(call) < (query.startedBefore?.getTime() ?? Number.POSITIVE_INFINITY))
    .sort((a, b) => sortAt(b) - sortAt(a) || (a.id < b.id ? 1 : -1));
  const page = matching.slice(query.offset, query.offset + query.limit);
  return { ids: page.map(({ id }) => id), total: matching.length };
}

test('CallStore lists as a naive model does, for every combination of filters', async () => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  const scope: Scope = { accountId: 'acct_1', environment: 'live' };
  const drafts = fc.sample(callArbitrary, { numRuns: 200, seed: 20_261_121 });
  // Ids are out of order on purpose: the order of insertion must not matter.
  const kept = drafts.map((draft, index) =>
    buildCall({ ...draft, id: `call_${(index * 7919) % 1000}` }),
  );
  for (const call of kept) await store.calls.insert(call, []);

  await fc.assert(
    fc.asyncProperty(queryArbitrary, async (query) => {
      const page = await store.calls.list(scope, query);

      expect({ ids: page.calls.map(({ id }) => id), total: page.total }).toEqual(
        naiveList(kept, scope, query),
      );
    }),
    { numRuns: 500 },
  );
});

/** Whole days, as the API asks: totals and far pages come from the sums by day. */
const dayQueryArbitrary = fc.record(
  {
    agentId: fc.constantFrom('agent_1', 'agent_2', 'agent_3'),
    status: fc.constantFrom('queued', 'in_progress', 'completed'),
    direction: fc.constantFrom('inbound', 'outbound'),
    startedFrom: fc.integer({ min: -1, max: 61 }).map(midnight),
    startedBefore: fc.integer({ min: -1, max: 61 }).map(midnight),
    limit: fc.integer({ min: 1, max: 100 }),
    offset: fc.integer({ min: 0, max: 1700 }),
  },
  { requiredKeys: ['limit', 'offset'] },
) satisfies fc.Arbitrary<CallQuery>;

function midnight(day: number): Date {
  return new Date(FIRST_DAY_MS + day * DAY_MS);
}

test('CallStore lists whole days as a naive model does, however far the page', async () => {
  const store = await openTestStore();
  const scope: Scope = { accountId: 'acct_1', environment: 'live' };
  const drafts = fc.sample(
    fc.record({
      agentId: fc.constantFrom('agent_1', 'agent_1', 'agent_1', 'agent_2'),
      direction: fc.constantFrom('inbound', 'inbound', 'inbound', 'outbound'),
      status: fc.constantFrom('queued', 'completed', 'completed', 'completed', 'failed'),
      startedAt: fc.integer({ min: 0, max: 240 }).map(instant),
    }),
    { numRuns: 1600, seed: 20_261_122 },
  );
  const kept = drafts.map((draft, index) =>
    buildCall({ ...draft, id: `call_${(index * 7919) % 10_007}` }),
  );
  for (const call of kept) await store.calls.insert(call, []);

  await fc.assert(
    fc.asyncProperty(dayQueryArbitrary, async (query) => {
      const page = await store.calls.list(scope, query);

      expect({ ids: page.calls.map(({ id }) => id), total: page.total }).toEqual(
        naiveList(kept, scope, query),
      );
    }),
    { numRuns: 500 },
  );
});

test.each([
  {},
  { status: 'completed' },
  { direction: 'outbound', agentId: 'agent_1' },
] as const)('CallStore pages of %o never overlap while other calls change', async (filter) => {
  const { calls } = await openTestStore();
  const scope: Scope = { accountId: 'acct_1', environment: 'live' };
  for (let index = 0; index < 300; index++) {
    await calls.insert(
      buildCall({
        id: `call_${index}`,
        startedAt: instant(index % 17),
        direction: 'outbound',
        status: index % 3 === 0 ? 'completed' : 'in_progress',
      }),
      [],
    );
  }

  const ids: string[] = [];
  for (let offset = 0; ; offset += 7) {
    const page = await calls.list(scope, { ...filter, limit: 7, offset });
    if (page.calls.length === 0) break;
    ids.push(...page.calls.map(({ id }) => id));
    // Older than every page, so that it must move none.
    await calls.insert(
      buildCall({ id: `old_${offset}`, startedAt: instant(-400), agentId: 'agent_9' }),
      [],
    );
  }
  const own = ids.filter((id) => id.startsWith('call_'));

  expect(new Set(own).size).toBe(own.length);
  expect(own.length).toBe('status' in filter ? 100 : 300);
});

test('CallStore pages never overlap and leave nothing out', async () => {
  const { calls } = await openTestStore();
  const scope: Scope = { accountId: 'acct_1', environment: 'live' };
  for (let index = 0; index < 57; index++) {
    await calls.insert(buildCall({ id: `call_${index}`, startedAt: instant(index % 3) }), []);
  }

  const ids = new Set<string>();
  for (const offset of [0, 20, 40]) {
    for (const { id } of (await calls.list(scope, { limit: 20, offset })).calls) ids.add(id);
  }

  expect(ids.size).toBe(57);
});

test('CallStore says in a list whether a call has a transcript', async () => {
  const { calls } = await openTestStore();
  await calls.insert(buildCall({ id: 'call_1' }), []);
  await calls.insert(buildCall({ id: 'call_2' }), []);
  await calls.addTranscriptEntry('call_2', { role: 'user', text: 'hello', at: new Date() });

  const page = await calls.list(
    { accountId: 'acct_1', environment: 'live' },
    { limit: 9, offset: 0 },
  );

  expect(page.calls.map(({ id, hasTranscript }) => [id, hasTranscript])).toEqual([
    ['call_2', true],
    ['call_1', false],
  ]);
});
