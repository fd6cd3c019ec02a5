/** What a start says of numbers, and who answers them. */
import { expect, test } from 'vitest';
import { liveRouter } from '../../src/compose/calls.ts';
import { checkNumbers, openNumberOwners } from '../../src/compose/numbers.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { operatorTrunks, TrunkRegistry } from '../../src/telephony/trunks/trunk-registry.ts';
import { parseTrunks, TrunkSettingsError } from '../../src/telephony/trunks/trunks.ts';
import { openCallWorld } from '../call/support/call-world.ts';
import { ScriptedIncoming } from '../call/support/scripted-party.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { addAccount, openTestStore, type TestStore } from '../support/store/test-store.ts';

const NUMBER = '+390612345678';

function trunksWith(fields: object) {
  const trunk = { name: 'acme', proxy: 'sip.example.com', numbers: ['+39*'], ...fields };
  const unstarted = { statusOf: () => undefined, callsOn: () => 0 };
  return operatorTrunks(new TrunkRegistry(parseTrunks(JSON.stringify([trunk]))), unstarted);
}

/** @returns what was warned of. */
async function check(store: TestStore, fields: object = {}): Promise<readonly unknown[]> {
  const warned: unknown[] = [];
  const log: Logger = { ...silentLogger, warn: (...line) => warned.push(line) };
  const trunks = trunksWith(fields);
  await checkNumbers({ store, trunks, owners: openNumberOwners({ store, trunks }), log });
  return warned;
}

test('checkNumbers refuses a trunk of an account that does not exist', async () => {
  const store = await openTestStore();

  const start = () => check(store, { account: 'acct_none' });

  await expect(start()).rejects.toThrow(TrunkSettingsError);
  await expect(start()).rejects.toThrow('trunk "acme": account: there is no account "acct_none"');
});

test('checkNumbers warns of agents that hold a number of another account', async () => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  await store.agents.insert(buildAgent({ accountId: 'acct_2', phoneNumber: NUMBER }));
  await store.agents.insert(buildAgent({ id: 'agent_2', phoneNumber: '+390698765432' }));
  const other = { id: 'agent_3', accountId: 'acct_2', phoneNumber: '+12025550123' };
  await store.agents.insert(buildAgent(other));

  const [first, ...others] = await check(store);

  const agents = [{ agentId: 'agent_1', accountId: 'acct_2' }];
  expect(first).toEqual([{ agents, count: 1 }, expect.stringContaining('do not answer')]);
  expect(others).toEqual([]);
  expect(await check(store, { account: 'acct_2' })).toMatchObject([
    [{ agents: [{ agentId: 'agent_2' }] }, expect.anything()],
  ]);
});

test('checkNumbers warns of numbers that agents had before, until the operator assigns them', async () => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  await store.agents.insert(buildAgent({ accountId: 'acct_2', phoneNumber: NUMBER }));
  const assignment = { number: NUMBER, accountId: 'acct_2', assignedAt: new Date(0) };
  await store.numberAssignments.save({ ...assignment, assignedBy: 'upgrade' });

  const before = await check(store);
  await store.numberAssignments.save({ ...assignment, assignedBy: 'operator' });
  const after = await check(store);

  const agents = [{ agentId: 'agent_1', accountId: 'acct_2' }];
  expect(before).toEqual([[{ agents, count: 1 }, expect.stringContaining('confirm each')]]);
  expect(after).toEqual([]);
});

test.each([
  ['acct_1', []],
  ['acct_2', [{ sipStatus: 404 }]],
])('A call to a number of %s rings, or does not, at an agent of acct_1', async (account, refusals) => {
  const world = await openCallWorld({ agent: { phoneNumber: NUMBER } });
  await addAccount(world.store, 'acct_2');
  const { store, parts: callParts, registry } = world;
  const numberOwners = openNumberOwners({ store, trunks: trunksWith({ account }) });
  const admission = { registry, refused: () => undefined } as never;
  const router = liveRouter({ store, numberOwners, callParts, admission });
  const incoming = new ScriptedIncoming(NUMBER);

  void router.take(incoming);
  await new Promise((resolve) => setImmediate(resolve));

  expect(incoming.rejections).toEqual(refusals);
  expect(incoming.answers).toHaveLength(refusals.length === 0 ? 1 : 0);
});
