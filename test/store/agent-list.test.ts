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
    smsGateway: _6,
    calendar: _7,
    extract: _8,
    successCriteria: _9,
    model: _10,
    ...shown
  } = agent;
  expect(page.agents).toEqual([{ ...shown, totalCallsToday: 0, totalMinutesToday: 0 }]);
});

/** Processor time of a list of a hundred agents, in milliseconds: the least of three, as other work only adds to it. */
async function listCostMs(systemPrompt: string): Promise<number> {
  const { agents } = await openTestStore();
  for (let index = 0; index < 100; index++) {
    await agents.insert(buildAgent({ id: `agent_${index}`, systemPrompt }));
  }
  const costs: number[] = [];
  for (let round = 0; round < 3; round++) {
    const startedAtMs = cpuMs();
    for (let list = 0; list < LISTS; list++)
      await agents.list(SCOPE, { limit: 100, offset: 0 }, new Date());
    costs.push((cpuMs() - startedAtMs) / LISTS);
  }
  return Math.min(...costs);
}

test('AgentStore lists a hundred agents within 2 ms, and prompts of any length cost it nothing', async () => {
  const [short, long] = [await listCostMs('You are brief.'), await listCostMs('a€'.repeat(10_000))];

  expect(long).toBeLessThan(2);
  expect(long / short).toBeLessThan(1.5);
});
