import { expect, test } from 'vitest';
import { agentOfPhone } from '../../src/call/agent-of-phone.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const OWN = buildAgent({ id: 'agent_own', accountId: 'acct_first' });
const SALES = buildAgent({ id: 'agent_sales', accountId: 'acct_first' });
const FOREIGN = buildAgent({ id: 'agent_foreign', accountId: 'acct_other' });

const stores = {
  firstAccountId: async () => 'acct_first',
  findLive: async (accountId: string, id: string) =>
    [OWN, SALES, FOREIGN].find((agent) => agent.accountId === accountId && agent.id === id),
};

test.each([
  ['the agent that it calls', {}, SALES, 'agent_sales'],
  ['no agent by a number without one', {}, undefined, undefined],
  ['its own agent by any other number', { agent: 'agent_own' }, undefined, 'agent_own'],
  ['no agent of another account', {}, FOREIGN, undefined],
  ['its own in the place of one of another account', { agent: 'agent_own' }, FOREIGN, 'agent_own'],
  ['the agents of its account', { account: 'acct_other' }, FOREIGN, 'agent_foreign'],
  ['no agent that its account lacks', { agent: 'agent_foreign' }, undefined, undefined],
])('agentOfPhone gives a telephone %s', async (_, phone, called, id) => {
  expect((await agentOfPhone(phone, called, stores))?.id).toBe(id);
});
