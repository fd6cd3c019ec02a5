import { expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import type { SavedDraft } from '../../src/domain/agent/agent-version.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { addAccount, openTestStore } from '../support/store/test-store.ts';

const LIVE: Scope = { accountId: 'acct_1', environment: 'live' };

const DRAFT: SavedDraft = {
  changes: { greeting: 'Hi „you“', settings: { interruptible: false }, extract: null },
  basedOnAt: new Date('2026-11-20T11:00:00.000Z'),
  by: 'dashboard',
  updatedAt: new Date('2026-11-20T11:00:01.000Z'),
};

test('SavedDraftStore has the draft that was saved last, and leaves the agent as it is', async () => {
  const { agents, agentDrafts } = await openTestStore();
  const agent = buildAgent();
  await agents.insert(agent);

  await agentDrafts.save(agent.id, { ...DRAFT, changes: { name: 'First' }, by: 'api' });
  await agentDrafts.save(agent.id, DRAFT);

  expect(await agentDrafts.find(LIVE, agent.id)).toEqual(DRAFT);
  expect(await agents.find(LIVE, agent.id)).toEqual(agent);
});

test('SavedDraftStore has no draft of another agent, account or environment', async () => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  await store.agents.insert(buildAgent());
  await store.agents.insert(buildAgent({ id: 'agent_2' }));
  await store.agentDrafts.save('agent_1', DRAFT);

  const found = await Promise.all([
    store.agentDrafts.find(LIVE, 'agent_2'),
    store.agentDrafts.find({ ...LIVE, accountId: 'acct_2' }, 'agent_1'),
    store.agentDrafts.find({ ...LIVE, environment: 'test' }, 'agent_1'),
  ]);

  expect(found).toEqual([undefined, undefined, undefined]);
});

test('SavedDraftStore forgets a draft that is deleted, and that of a deleted agent', async () => {
  const { agents, agentDrafts } = await openTestStore();
  await agents.insert(buildAgent());
  await agents.insert(buildAgent({ id: 'agent_2' }));
  await agentDrafts.save('agent_1', DRAFT);
  await agentDrafts.save('agent_2', DRAFT);

  await agentDrafts.delete('agent_1');
  await agents.delete(LIVE, 'agent_2');
  await agents.insert(buildAgent({ id: 'agent_2' }));

  expect(await agentDrafts.find(LIVE, 'agent_1')).toBeUndefined();
  expect(await agentDrafts.find(LIVE, 'agent_2')).toBeUndefined();
});
