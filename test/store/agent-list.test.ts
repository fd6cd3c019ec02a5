import { expect, test } from 'vitest';
import type { AgentStore } from '../../src/domain/agent/agent.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { cpuMs } from '../support/time/cpu-time.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const LISTS = 100;

const ROUNDS = 6;

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
  expect(page.items).toEqual([{ ...shown, totalCallsToday: 0, totalMinutesToday: 0 }]);
});

async function storeOfHundred(systemPrompt: string): Promise<AgentStore> {
  const { agents } = await openTestStore();
  for (let index = 0; index < 100; index++) {
    await agents.insert(buildAgent({ id: `agent_${index}`, systemPrompt }));
  }
  return agents;
}

/** Processor time of a list, in milliseconds. */
async function listCostMs(agents: AgentStore): Promise<number> {
  const startedAtMs = cpuMs();
  for (let list = 0; list < LISTS; list++)
    await agents.list(SCOPE, { limit: 100, offset: 0 }, new Date());
  return (cpuMs() - startedAtMs) / LISTS;
}

test('AgentStore lists a hundred agents within 2 ms, and prompts of any length cost it nothing', async () => {
  const [short, long] = await Promise.all([
    storeOfHundred('You are brief.'),
    storeOfHundred('a€'.repeat(10_000)),
  ]);
  const costs: (readonly [short: number, long: number])[] = [];

  // In turns, and the least of each, as other work only adds to it.
  for (let round = 0; round < ROUNDS; round++)
    costs.push([await listCostMs(short), await listCostMs(long)]);

  const [ofShort, ofLong] = [0, 1].map((side) => Math.min(...costs.map((cost) => cost[side] ?? 0)));
  expect(ofLong).toBeLessThan(2);
  expect((ofLong ?? 0) / (ofShort ?? 0)).toBeLessThan(1.5);
});
