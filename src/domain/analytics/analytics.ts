/** What an account's calls add up to, and the contract of the store that sums them. */
import type { Scope } from '../agent/agent.ts';

/** One UTC day; days without calls are not there. */
export interface DayUsage {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly calls: number;
  readonly inboundCalls: number;
  readonly outboundCalls: number;
  readonly completedCalls: number;
  /** Ended without ever having been answered. */
  readonly missedCalls: number;
  /** Calls that were answered and are over: what durations are averaged over. */
  readonly answeredCalls: number;
  /** Each call's duration, every started second counted. */
  readonly billedSeconds: number;
  readonly sentimentSum: number;
  readonly sentimentCount: number;
}

export interface IntentCount {
  readonly intent: string;
  readonly count: number;
}

export interface UsageQuery {
  readonly agentId?: string;
  /** YYYY-MM-DD, inclusive. */
  readonly firstDay: string;
  /** YYYY-MM-DD, inclusive. */
  readonly lastDay: string;
}

export interface AnalyticsStore {
  /** In the order of days. */
  days(scope: Scope, query: UsageQuery): readonly DayUsage[];

  /** Most frequent first, ties by name; all of them. */
  intents(scope: Scope, query: UsageQuery): readonly IntentCount[];
}
