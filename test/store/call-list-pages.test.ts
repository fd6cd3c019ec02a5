import { expect, test } from 'vitest';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore } from '../support/store/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const DAY_MS = 86_400_000;

const ID_SEARCH = { kind: 'id', prefix: 'call_' } as const;

test('CallStore.list keeps the order of a page that lies on several days', async () => {
  const { calls } = await openTestStore();
  for (let index = 0; index < 30; index += 1) {
    const startedAt = new Date(index * DAY_MS);
    await calls.insert(buildCall({ id: `call_${index}`, startedAt, status: 'completed' }), []);
  }

  const query = { status: 'completed', limit: 5, offset: 20 } as const;
  const ids = (await calls.list(SCOPE, query)).calls.map(({ id }) => id);

  expect(ids).toEqual(['call_9', 'call_8', 'call_7', 'call_6', 'call_5']);
});

test('CallStore.list gives no calls behind the last one', async () => {
  const { calls } = await openTestStore();
  await calls.insert(buildCall({ id: 'call_1' }), []);

  expect(await calls.list(SCOPE, { limit: 5, offset: 1 })).toEqual({
    calls: [],
    total: 1,
    offset: 1,
  });
});

const QUERIES = [
  {},
  { status: 'completed' },
  { agentId: 'agent_1' },
  { search: ID_SEARCH },
] as const;

test.each(
  QUERIES,
)('CallStore.list after a position leaves out and repeats no call while 50 new ones come: %o', async (filters) => {
  const { calls } = await openTestStore();
  const old = Array.from({ length: 40 }, (_, index) => `call_a${index + 100}`);
  // Four at a time, so that ids decide too.
  const startedAt = (index: number) => new Date(DAY_MS + Math.floor(index / 4) * 60_000);
  for (const [index, id] of old.entries()) {
    await calls.insert(buildCall({ id, startedAt: startedAt(index), status: 'completed' }), []);
  }
  const first = await calls.list(SCOPE, { ...filters, limit: 15, offset: 0 });
  const last = first.calls.at(-1);
  for (let index = 0; index < 50; index += 1) {
    const id = `call_b${index}`;
    await calls.insert(
      buildCall({ id, startedAt: startedAt(40 + index), status: 'completed' }),
      [],
    );
  }

  const after = { at: last?.startedAt ?? new Date(0), id: last?.id ?? '' };
  const second = await calls.list(SCOPE, { ...filters, limit: 100, offset: 0, after });

  const seen = [...first.calls, ...second.calls].map(({ id }) => id);
  expect(seen).toEqual(old.toReversed());
  expect(second).toMatchObject({ total: 90, offset: 65 });
});
