import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import { AGENT_VERSIONS_KEPT } from '../../src/domain/agent/agent-version.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { addAccount, openTestStore, type TestStore } from '../support/store/test-store.ts';

const LIVE: Scope = { accountId: 'acct_1', environment: 'live' };

const PAGE = { limit: 100, offset: 0 };

/** No more versions can be written, as if the disk were full at that very moment. */
function refuseVersions({ file }: TestStore): void {
  const sqlite = new Sqlite(file);
  sqlite.exec(`create trigger refuse before insert on agent_versions
    begin select raise(abort, 'no room'); end`);
  sqlite.close();
}

test('AgentVersionStore has an agent as it was made, and as it was after each change', async () => {
  const { agents, agentVersions } = await openTestStore();
  const made = buildAgent();
  const updatedAt = new Date('2026-11-20T11:00:00.000Z');
  const settings = { ...made.settings, interruptible: false };
  await agents.insert(made);

  await agents.update({ ...made, greeting: 'Hi', settings, updatedAt }, 'dashboard');

  const { id: _id, accountId, environment, createdAt, updatedAt: _at, ...content } = made;
  expect([accountId, environment]).toEqual(['acct_1', 'live']);
  expect(await agentVersions.list(LIVE, made.id, PAGE)).toEqual({
    total: 2,
    items: [
      {
        version: 2,
        at: updatedAt,
        by: 'dashboard',
        changed: ['greeting', 'settings.interruptible'],
        agent: { ...content, greeting: 'Hi', settings },
      },
      { version: 1, at: createdAt, by: 'api', changed: [], agent: content },
    ],
  });
});

test('AgentVersionStore keeps no version of a change that makes no difference', async () => {
  const { agents, agentVersions } = await openTestStore();
  await agents.insert(buildAgent());

  await agents.update(buildAgent({ updatedAt: new Date() }));

  expect((await agentVersions.list(LIVE, 'agent_1', PAGE)).total).toBe(1);
});

test(`AgentVersionStore keeps the newest ${AGENT_VERSIONS_KEPT} versions of each agent`, async () => {
  const { agents, agentVersions } = await openTestStore();
  await agents.insert(buildAgent({ id: 'agent_2' }));
  await agents.insert(buildAgent());

  for (let index = 2; index <= AGENT_VERSIONS_KEPT + 3; index++) {
    await agents.update(buildAgent({ greeting: `Hello ${index}` }));
  }

  const { total, items: versions } = await agentVersions.list(LIVE, 'agent_1', PAGE);
  expect(total).toBe(AGENT_VERSIONS_KEPT);
  expect([versions[0]?.version, versions.at(-1)?.version]).toEqual([AGENT_VERSIONS_KEPT + 3, 4]);
  expect(await agentVersions.find(LIVE, 'agent_1', 3)).toBeUndefined();
  expect((await agentVersions.list(LIVE, 'agent_2', PAGE)).total).toBe(1);
});

test('AgentVersionStore pages, newest first', async () => {
  const { agents, agentVersions } = await openTestStore();
  await agents.insert(buildAgent());
  for (const greeting of ['b', 'c', 'd']) await agents.update(buildAgent({ greeting }));

  const { total, items: versions } = await agentVersions.list(LIVE, 'agent_1', {
    limit: 2,
    offset: 1,
  });

  expect(total).toBe(4);
  expect(versions.map(({ version }) => version)).toEqual([3, 2]);
});

test('AgentVersionStore finds nothing of another account or environment', async () => {
  const store = await openTestStore();
  await addAccount(store, 'acct_2');
  await store.agents.insert(buildAgent());

  for (const scope of [
    { ...LIVE, accountId: 'acct_2' },
    { ...LIVE, environment: 'test' },
  ] as const) {
    expect(await store.agentVersions.list(scope, 'agent_1', PAGE)).toEqual({
      items: [],
      total: 0,
    });
    expect(await store.agentVersions.find(scope, 'agent_1', 1)).toBeUndefined();
  }
});

test('AgentVersionStore forgets the versions of a deleted agent', async () => {
  const store = await openTestStore();
  await store.agents.insert(buildAgent());

  await store.agents.delete(LIVE, 'agent_1');

  await store.agents.insert(buildAgent({ name: 'Another' }));
  expect(await store.agentVersions.list(LIVE, 'agent_1', PAGE)).toMatchObject({
    total: 1,
    items: [{ version: 1, agent: { name: 'Another' } }],
  });
});

test('AgentStore changes nothing where the version cannot be written', async () => {
  const store = await openTestStore();
  await store.agents.insert(buildAgent());
  refuseVersions(store);

  await expect(store.agents.update(buildAgent({ name: 'New' }))).rejects.toThrow('no room');
  await expect(store.agents.insert(buildAgent({ id: 'agent_2' }))).rejects.toThrow('no room');

  expect((await store.agents.find(LIVE, 'agent_1'))?.name).toBe('Reception');
  expect(await store.agents.find(LIVE, 'agent_2')).toBeUndefined();
});
