import { expect, test } from 'vitest';
import { entitled, NumberOwners } from '../../src/domain/dialing/number-owner.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { addAccount, openTestStore } from '../support/store/test-store.ts';

const NUMBER = '+390612345678';

/** @param trunkAccount that the trunk of all numbers with +39 names. */
async function openOwners(trunkAccount: string | null = null) {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  const { accounts, numberAssignments: assignments } = store;
  const trunks = {
    accountOf: (number: string) => (number.startsWith('+39') ? trunkAccount : undefined),
  };
  const owners = new NumberOwners({ accounts, assignments, trunks });
  const assign = (number: string, accountId: string) =>
    assignments.save({
      number,
      accountId,
      assignedAt: new Date(0),
      assignedBy: 'operator',
    });
  return { store, owners, assign };
}

test.each([
  ['that of its trunk', NUMBER, 'acct_2', [], 'acct_2'],
  ['the first where its trunk names none', NUMBER, null, [], 'acct_1'],
  ['none where no trunk has it', '+12025550123', 'acct_2', [], undefined],
  ['that of its assignment', NUMBER, null, [NUMBER], 'acct_2'],
  ['that of its assignment where no trunk has it', '+12025550123', null, ['+1*'], 'acct_2'],
  ['that of an assigned beginning', NUMBER, null, ['+3906*'], 'acct_2'],
  ['that of all assigned numbers', NUMBER, null, ['*'], 'acct_2'],
  ['not that of another beginning', NUMBER, null, ['+3907*', '+390612345679'], 'acct_1'],
  ['of a beginning, that of a shorter one', '+3906*', null, ['+39*'], 'acct_2'],
  ['of a beginning, not that of a longer one', '+39*', null, ['+3906*'], 'acct_1'],
])('NumberOwners: the account of a number is %s', async (_case, number, trunk, assigned, owner) => {
  const { owners, assign } = await openOwners(trunk);
  for (const each of assigned) await assign(each, 'acct_2');

  expect([await owners.ownerOf(number), (await owners.readAll())(number)]).toEqual([owner, owner]);
});

test('NumberOwners: the number itself counts before a beginning, a longer beginning before a shorter', async () => {
  const { store, owners, assign } = await openOwners();
  await addAccount(store, 'acct_3');
  await assign('+39*', 'acct_1');
  await assign('+3906*', 'acct_2');
  await assign(NUMBER, 'acct_3');

  const found = await Promise.all([NUMBER, '+390698765432', '+390298765432'].map(owners.ownerOf));

  expect(found).toEqual(['acct_3', 'acct_2', 'acct_1']);
});

test('entitled leaves out an agent whose number has come to a trunk of another account', async () => {
  const { owners } = await openOwners();
  const agent = (accountId: string) => buildAgent({ accountId, phoneNumber: NUMBER });

  const found = await Promise.all(
    [agent('acct_1'), agent('acct_2'), undefined].map((one) => entitled(one, owners)),
  );

  expect(found.map((one) => one?.accountId)).toEqual(['acct_1', undefined, undefined]);
});
