import { expect, test } from 'vitest';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore } from '../support/store/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const DAY_MS = 86_400_000;

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

  expect(await calls.list(SCOPE, { limit: 5, offset: 1 })).toEqual({ calls: [], total: 1 });
});
