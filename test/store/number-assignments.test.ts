import { expect, test } from 'vitest';
import { addAccount, openTestStore } from '../support/store/test-store.ts';

test('NumberAssignments keeps one a number, and forgets', async () => {
  const store = await openTestStore();
  const { numberAssignments } = store;
  await addAccount(store, 'acct_2');
  const first = {
    ...{ number: '+39*', accountId: 'acct_1', assignedAt: new Date(1000) },
    assignedBy: 'upgrade' as const,
  };
  const second = { ...first, number: '+390612345678' };

  for (const one of [second, first]) await numberAssignments.save(one);
  await numberAssignments.save({ ...first, accountId: 'acct_2', assignedBy: 'operator' });

  const changed = { ...first, accountId: 'acct_2', assignedBy: 'operator' };
  expect(await numberAssignments.list()).toEqual([changed, second]);
  expect(await numberAssignments.findFirst(['+3906*', '+39*'])).toEqual(changed);
  expect(await numberAssignments.findFirst(['+390612345678', '+39*'])).toEqual(second);
  expect(await numberAssignments.findFirst(['+3906*'])).toBeUndefined();
  expect([await numberAssignments.remove('+39*'), await numberAssignments.remove('+39*')]).toEqual([
    true,
    false,
  ]);
});
