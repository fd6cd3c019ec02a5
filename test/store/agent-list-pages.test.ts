import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore } from '../../src/store/store.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { cpuMs } from '../support/time/cpu-time.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const NOW = new Date('2026-11-21T12:00:00.000Z');

test('AgentStore.list counts every agent once, wherever the page lies', async () => {
  const { agents } = await openTestStore();
  for (let index = 0; index < 41; index++)
    await agents.insert(buildAgent({ id: `agent_${index}` }));
  const every = (await agents.list(SCOPE, { limit: 100, offset: 0 }, NOW)).items.map(
    ({ id }) => id,
  );

  for (const page of [
    { limit: 100, offset: 0 },
    { limit: 7, offset: 20 },
    { limit: 41, offset: 0 },
    { limit: 21, offset: 20 },
    { limit: 20, offset: 20 },
    { limit: 5, offset: 41 },
    { limit: 5, offset: 60 },
    { limit: 5, offset: 0, status: 'active' as const },
  ]) {
    const { items: listed, total } = await agents.list(SCOPE, page, NOW);

    const { offset, limit } = page;
    expect(listed.map(({ id }) => id)).toEqual(every.slice(offset, offset + limit));
    expect(total).toBe(41);
  }
});

test('AgentStore.list adds up the calls and minutes since midnight of each agent', async () => {
  const { agents, calls } = await openTestStore();
  for (const [index, durationSeconds] of [2, 3, 9, 57, 600, 12_345].entries()) {
    await agents.insert(buildAgent({ id: `agent_${index}` }));
    const call = { id: `call_${index}`, agentId: `agent_${index}`, durationSeconds };
    await calls.insert(
      buildCall({ ...call, createdAt: NOW, startedAt: NOW, status: 'completed' }),
      [],
    );
  }

  const listed = (await agents.list(SCOPE, { limit: 100, offset: 0 }, NOW)).items;

  const minutes = listed.map(({ id, totalMinutesToday }) => `${id} ${totalMinutesToday}`).sort();
  expect(minutes).toEqual([
    'agent_0 0',
    'agent_1 0.1',
    'agent_2 0.2',
    'agent_3 1',
    'agent_4 10',
    'agent_5 205.8',
  ]);
  expect(listed.every(({ totalCallsToday }) => totalCallsToday === 1)).toBe(true);
});

test('AgentStore finds whose a number is as quickly among 3,000 agents as among 20, where none had one when SQLite counted', async () => {
  const first = await openTestStore();
  const insertUpTo = async (store: typeof first.agents, from: number, to: number) => {
    for (let index = from; index < to; index++) {
      await store.insert(buildAgent({ id: `agent_${index}`, phoneNumber: null }));
    }
  };
  await insertUpTo(first.agents, 0, 20);
  await first.close();
  // Counts rows as it opens the database.
  const store = await openStore({ file: first.file, clock: first.clock, log: silentLogger });
  onTestFinished(() => store.close());
  const costMs = async () => {
    const startedAtMs = cpuMs();
    for (let call = 0; call < 500; call++) await store.agents.findByPhoneNumber('+390612345678');
    return cpuMs() - startedAtMs;
  };
  await costMs();
  const few = Math.min(await costMs(), await costMs());

  await insertUpTo(store.agents, 20, 3000);

  const many = Math.min(await costMs(), await costMs());
  expect(many).toBeLessThan(5 * few + 5);
});
