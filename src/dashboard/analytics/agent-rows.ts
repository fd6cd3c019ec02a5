/** Calls by agent as the table shows them: those of deleted agents are the rest of the period's; pure */
import type { AnalyticsDetails } from '../api-types.ts';

type AgentRow = AnalyticsDetails['agents'][number];

/** The rest has no id. */
export interface ShownAgent extends Omit<AgentRow, 'agentId'> {
  readonly agentId: string | undefined;
}

const FIELDS = [
  'totalCalls',
  'completedCalls',
  'missedCalls',
  'failedCalls',
  'successMet',
  'successJudged',
] as const;

/** The server has rows of agents that exist, and the period's sums of all: the difference is a last row, where there is one. */
export function shownAgents({ agents, summary }: AnalyticsDetails): readonly ShownAgent[] {
  const restOf = (field: (typeof FIELDS)[number]) =>
    agents.reduce((rest, agent) => rest - agent[field], summary[field]);
  const rest = Object.fromEntries(FIELDS.map((field) => [field, restOf(field)]));
  if (rest.totalCalls === 0) return agents;
  return [...agents, { ...(rest as Omit<AgentRow, 'agentId'>), agentId: undefined }];
}
