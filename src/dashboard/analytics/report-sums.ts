/** Sums of a report as they are shown: changes against the period before, shares, and calls by agent; pure */
import type { AnalyticsDetails } from '../api-types.ts';

interface Change {
  /** Relative change to the figure before; of a share, the difference of both. */
  readonly by: number;
  readonly tone: 'good' | 'bad' | 'plain';
}

/** Which way is better. */
export type Better = 'more' | 'less' | 'neither';

/** Smaller changes are none. */
const CHANGE_MIN = 0.005;

/** Undefined without one of the two values, or when the earlier one is 0. */
export function changeOf(
  now: number | null,
  before: number | null,
  better: Better,
): Change | undefined {
  if (now === null || before === null || before === 0) return undefined;
  return toned((now - before) / before, better);
}

/** Like `changeOf` for shares from 0 to 1: their difference, in points. */
export function differenceOf(
  now: number | null,
  before: number | null,
  better: Better,
): Change | undefined {
  return now === null || before === null ? undefined : toned(now - before, better);
}

function toned(by: number, better: Better): Change {
  if (better === 'neither' || Math.abs(by) < CHANGE_MIN) return { by, tone: 'plain' };
  return { by, tone: by > 0 === (better === 'more') ? 'good' : 'bad' };
}

/** Null when `whole` is 0. */
export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

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
