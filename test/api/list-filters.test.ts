/** The filters of lists against a model that looks at everything each time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Agent, DEFAULT_AGENT_SETTINGS } from '../../src/domain/agent/agent.ts';
import type { Call, CallStatus } from '../../src/domain/call/call.ts';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';

const HOUR_MS = 3_600_000;

/** Queries asked of each set of rows, which costs more to make. */
const QUERIES = 25;

const FIRST_DAY_MS = Date.UTC(2026, 10, 18);

/** Hours of four days, few enough that many rows share one. */
const instants = fc.nat(4 * 24 - 1).map((hours) => new Date(FIRST_DAY_MS + hours * HOUR_MS));

const owners = fc.constantFrom(
  { accountId: 'acct_main', environment: 'live' } as const,
  { accountId: 'acct_main', environment: 'live' } as const,
  { accountId: 'acct_main', environment: 'test' } as const,
  { accountId: 'acct_foreign', environment: 'live' } as const,
);

const STATUSES: readonly CallStatus[] = ['queued', 'ringing', 'in_progress', 'completed', 'failed'];

const calls = fc.record({
  owner: owners,
  agentId: fc.constantFrom('agent_1', 'agent_2'),
  direction: fc.constantFrom('inbound', 'outbound'),
  status: fc.constantFrom(...STATUSES),
  createdAt: instants,
  startedAt: fc.option(instants),
});

const agents = fc.record({
  owner: owners,
  status: fc.constantFrom('active', 'paused'),
  createdAt: instants,
});

const paging = {
  limit: fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }),
  offset: fc.option(fc.nat(12), { nil: undefined }),
};

const days = fc.constantFrom(undefined, '2026-11-18', '2026-11-19', '2026-11-20', '2026-11-22');

const callQueries = fc
  .record({
    ...paging,
    agentId: fc.constantFrom(undefined, 'agent_1', 'agent_2', 'agent_3'),
    direction: fc.constantFrom(undefined, 'inbound', 'outbound'),
    status: fc.constantFrom(undefined, ...STATUSES),
    startDate: days,
    endDate: days,
  })
  .filter(({ startDate, endDate }) => startDate === undefined || !endDate || startDate <= endDate);

const agentQueries = fc.record({
  ...paging,
  status: fc.constantFrom(undefined, 'active', 'paused', 'all'),
});

interface Paging {
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

/** Newest first, ties by id, and the part of them that was asked for. */
function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  timeOf: (row: Row) => Date,
  { limit = 20, offset = 0 }: Paging,
) {
  const sorted = [...rows].sort((left, right) => {
    const byTime = timeOf(right).getTime() - timeOf(left).getTime();
    return byTime === 0 ? (left.id < right.id ? 1 : -1) : byTime;
  });
  const ids = sorted.slice(offset, offset + limit).map(({ id }) => id);
  return { ids, total: rows.length, limit, offset };
}

async function ask(api: TestApi, path: string, query: object) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(
    Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
  );
  const { body } = await api.json('GET', `${path}?${text}`);
  const { data, ...rest } = body;
  return { ids: data.map(({ id }) => id), ...rest };
}

function isOurs({ accountId, environment }: Pick<Call, 'accountId' | 'environment'>): boolean {
  return accountId === 'acct_main' && environment === 'live';
}

test('GET /api/calls answers every query as a look at every call would', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(calls, { minLength: 5, maxLength: 40 }),
      fc.array(callQueries, { minLength: QUERIES, maxLength: QUERIES }),
      async (facts, queries) => {
        const api = await openTestApi();
        const rows = facts.map(({ owner, ...fields }, index) =>
          buildCall({ ...owner, ...fields, id: `call_${index}` } as Partial<Call>),
        );
        for (const row of rows) await api.store.calls.insert(row, []);

        for (const query of queries) {
          const timeOf = (call: Call) => call.startedAt ?? call.createdAt;
          const matching = rows.filter((call) => {
            const day = timeOf(call).toISOString().slice(0, 10);
            return (
              isOurs(call) &&
              (query.agentId ?? call.agentId) === call.agentId &&
              (query.direction ?? call.direction) === call.direction &&
              (query.status ?? call.status) === call.status &&
              (query.startDate ?? day) <= day &&
              (query.endDate ?? day) >= day
            );
          });

          const { nextCursor, hasMore, ...page } = await ask(api, '/api/calls', query);
          const expected = pageOf(matching, timeOf, query);
          expect(page).toEqual(expected);
          const end = expected.offset + expected.ids.length;
          expect(hasMore).toBe(expected.ids.length > 0 && end < expected.total);
          if (!hasMore) continue;
          const next = await ask(api, '/api/calls', { ...query, cursor: nextCursor });
          expect(next).toMatchObject(pageOf(matching, timeOf, { ...query, offset: end }));
        }
      },
    ),
    { numRuns: 20, endOnFailure: true },
  );
});

test('GET /api/agents answers every query as a look at every agent would', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(agents, { minLength: 5, maxLength: 40 }),
      fc.array(agentQueries, { minLength: QUERIES, maxLength: QUERIES }),
      async (facts, queries) => {
        const api = await openTestApi();
        const rows = facts.map(({ owner, ...fields }, index) =>
          buildAgent({
            ...owner,
            ...(fields as Pick<Agent, 'status' | 'createdAt'>),
            id: `agent_${index}`,
            settings: DEFAULT_AGENT_SETTINGS,
          }),
        );
        for (const row of rows) await api.store.agents.insert(row);

        for (const query of queries) {
          const { status = 'all' } = query;
          const matching = rows.filter(
            (agent) => isOurs(agent) && (status === 'all' || agent.status === status),
          );
          const expected = pageOf(matching, ({ createdAt }) => createdAt, query);

          expect(await ask(api, '/api/agents', query)).toEqual(expected);
        }
      },
    ),
    { numRuns: 15, endOnFailure: true },
  );
});
