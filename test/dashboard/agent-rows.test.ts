/** Calls by agent, with the rest of the period's calls. */
import { expect, test } from 'vitest';
import { shownAgents } from '../../src/dashboard/analytics/report-sums.ts';
import type { AnalyticsDetails } from '../../src/dashboard/api-types.ts';

const SUMS = {
  totalCalls: 10,
  completedCalls: 7,
  missedCalls: 2,
  failedCalls: 1,
  successMet: 3,
  successJudged: 4,
};

const AGENT = {
  agentId: 'agent_1',
  totalCalls: 6,
  completedCalls: 5,
  missedCalls: 1,
  failedCalls: 0,
  successMet: 3,
  successJudged: 3,
};

function details(agents: readonly object[]): AnalyticsDetails {
  return { agents, summary: SUMS } as unknown as AnalyticsDetails;
}

test('shownAgents adds what the agents of today have not taken as a last row', () => {
  const rows = shownAgents(details([AGENT]));

  expect(rows[0]).toEqual(AGENT);
  expect(rows[1]).toEqual({
    agentId: undefined,
    totalCalls: 4,
    completedCalls: 2,
    missedCalls: 1,
    failedCalls: 1,
    successMet: 0,
    successJudged: 1,
  });
});

test('shownAgents adds no row where the agents have taken all calls', () => {
  const all = { ...SUMS, agentId: 'agent_1' };

  expect(shownAgents(details([all]))).toEqual([all]);
});
