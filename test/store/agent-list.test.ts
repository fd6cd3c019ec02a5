import { expect, test } from 'vitest';
import { buildAgent } from '../support/store/build-agent.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { cpuMs } from '../support/time/cpu-time.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const LISTS = 100;

test('AgentStore lists agents without their words', async () => {
  const { agents } = await openTestStore();
  const agent = buildAgent();
  await agents.insert(agent);

  const page = await agents.list(SCOPE, { limit: 9, offset: 0 }, new Date());

  const {
    greeting: _1,
    systemPrompt: _2,
    tools: _3,
    responsiveness: _4,
    settings: _5,
    ...shown
  } = agent;
  expect(page.agents).toEqual([{ ...shown, totalCallsToday: 0, totalMinutesToday: 0 }]);
});

test('AgentStore lists a hundred agents within 4 ms, however long their prompts are', async () => {
  const { agents } = await openTestStore();
  for (let index = 0; index < 100; index++) {
    await agents.insert(buildAgent({ id: `agent_${index}`, systemPrompt: 'a€'.repeat(10_000) }));
  }

  const startedAtMs = cpuMs();
  for (let list = 0; list < LISTS; list++)
    await agents.list(SCOPE, { limit: 100, offset: 0 }, new Date());

  expect((cpuMs() - startedAtMs) / LISTS).toBeLessThan(4);
});
