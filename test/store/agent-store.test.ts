import { describe, expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { addAccount, openTestStore, type TestStore } from '../support/store/test-store.ts';

const LIVE: Scope = { accountId: 'acct_1', environment: 'live' };

const SANDBOX: Scope = { accountId: 'acct_1', environment: 'test' };

const NUMBER = '+390612345678';

describe('AgentStore', () => {
  test('gives back every field as it was saved', async () => {
    const { agents } = await openTestStore();
    const agent = buildAgent({
      name: 'Ünïcode ☎ and a \u0000 and "quotes"',
      phoneNumber: NUMBER,
      tools: ['transfer_call'],
      status: 'paused',
    });

    await agents.insert(agent);

    expect(await agents.find(LIVE, agent.id)).toEqual(agent);
  });

  test('finds nothing of another account or environment', async () => {
    const store = await openTestStore();
    await addAccount(store, 'acct_2');
    await store.agents.insert(buildAgent());

    expect(await store.agents.find({ ...LIVE, accountId: 'acct_2' }, 'agent_1')).toBeUndefined();
    expect(await store.agents.find(SANDBOX, 'agent_1')).toBeUndefined();
    expect((await store.agents.list(SANDBOX, { limit: 9, offset: 0 }, new Date())).total).toBe(0);
  });

  test('updates and deletes nothing of another environment', async () => {
    const { agents } = await openTestStore();
    await agents.insert(buildAgent());

    await agents.update(buildAgent({ environment: 'test', name: 'Stolen' }));
    await agents.delete(SANDBOX, 'agent_1');

    expect((await agents.find(LIVE, 'agent_1'))?.name).toBe('Reception');
  });

  test('finds the live agent of a number, and no test agent', async () => {
    const { agents } = await openTestStore();
    await agents.insert(buildAgent({ id: 'agent_t', environment: 'test', phoneNumber: NUMBER }));

    expect(await agents.findByPhoneNumber(NUMBER)).toBeUndefined();
    await agents.insert(buildAgent({ phoneNumber: NUMBER }));
    expect((await agents.findByPhoneNumber(NUMBER))?.id).toBe('agent_1');
  });

  test('counts what an agent did since midnight UTC, in minutes rounded to 0.1', async () => {
    const { agents, calls } = await openTestStore();
    await agents.insert(buildAgent());
    const midnight = Date.UTC(2026, 10, 20);
    const starts = [midnight - 1, midnight, midnight + 3_600_000];
    for (const [index, startMs] of starts.entries()) {
      const startedAt = new Date(startMs);
      await calls.insert(buildCall({ id: `call_${index}`, startedAt, durationSeconds: 100 }), []);
    }
    await calls.insert(buildCall({ id: 'call_q', status: 'queued', startedAt: null }), []);

    const used = await agents.findWithUsage(LIVE, 'agent_1', new Date(midnight + 7_200_000));

    expect(used).toMatchObject({ totalCallsToday: 2, totalMinutesToday: 3.3 });
    expect(
      (await agents.list(LIVE, { limit: 1, offset: 0 }, new Date(midnight - 1))).items[0],
    ).toMatchObject({ totalCallsToday: 3, totalMinutesToday: 5 });
  });

  test.each([
    'queued',
    'ringing',
    'in_progress',
  ] as const)('refuses to delete an agent with a %s call', async (status) => {
    const { agents, calls } = await openTestStore();
    await agents.insert(buildAgent());
    await calls.insert(buildCall({ status }), []);

    await expect(agents.delete(LIVE, 'agent_1')).rejects.toThrow(
      expect.objectContaining({ code: 'CONFLICT' }),
    );
    expect(await agents.find(LIVE, 'agent_1')).toBeDefined();
  });

  test('deletes an agent and leaves its calls', async () => {
    const { agents, calls } = await openTestStore();
    await agents.insert(buildAgent({ phoneNumber: NUMBER }));
    await calls.insert(buildCall({ status: 'completed' }), []);

    await agents.delete(LIVE, 'agent_1');

    expect(await agents.find(LIVE, 'agent_1')).toBeUndefined();
    expect((await calls.find(LIVE, 'call_1'))?.agentId).toBe('agent_1');
    await agents.insert(buildAgent({ id: 'agent_2', phoneNumber: NUMBER }));
    expect((await agents.findByPhoneNumber(NUMBER))?.id).toBe('agent_2');
  });
});

describe('AgentStore numbers', () => {
  const conflict = expect.objectContaining({ code: 'CONFLICT' });

  async function withHolder(): Promise<TestStore> {
    const store = await openTestStore();
    await addAccount(store, 'acct_2');
    await store.agents.insert(buildAgent({ phoneNumber: NUMBER }));
    return store;
  }

  test('are held once in the live environment, whichever account it is', async () => {
    const { agents } = await withHolder();

    for (const accountId of ['acct_1', 'acct_2']) {
      const insert = () =>
        agents.insert(buildAgent({ id: 'agent_2', accountId, phoneNumber: NUMBER }));
      await expect(insert()).rejects.toThrow(conflict);
    }
  });

  test('are held once in an account’s test environment', async () => {
    const { agents } = await withHolder();
    const fields = { environment: 'test', phoneNumber: NUMBER } as const;

    await agents.insert(buildAgent({ ...fields, id: 'agent_2' }));
    await agents.insert(buildAgent({ ...fields, id: 'agent_3', accountId: 'acct_2' }));

    await expect(agents.insert(buildAgent({ ...fields, id: 'agent_4' }))).rejects.toThrow(conflict);
  });

  test('stay with their agent when it is saved again', async () => {
    const { agents } = await withHolder();

    await agents.update(buildAgent({ phoneNumber: NUMBER, name: 'New' }));
    expect((await agents.findByPhoneNumber(NUMBER))?.name).toBe('New');
  });

  test('are not taken by an update either, and then nothing of it is kept', async () => {
    const { agents } = await withHolder();
    await agents.insert(buildAgent({ id: 'agent_2' }));

    const take = () =>
      agents.update(buildAgent({ id: 'agent_2', phoneNumber: NUMBER, name: 'Taker' }));

    await expect(take()).rejects.toThrow(conflict);
    expect(await agents.find(LIVE, 'agent_2')).toMatchObject({
      name: 'Reception',
      phoneNumber: null,
    });
  });

  test('may be none for any number of agents', async () => {
    const { agents } = await withHolder();

    for (const id of ['agent_2', 'agent_3']) await agents.insert(buildAgent({ id }));

    expect((await agents.list(LIVE, { limit: 9, offset: 0 }, new Date())).total).toBe(3);
  });
});
