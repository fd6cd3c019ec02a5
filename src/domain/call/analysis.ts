/** What is found out about a call when it is over, and the contract of the store that keeps the work to do. */
import type { Notifier } from '../../lib/notifier.ts';
import type { Environment } from '../account/account.ts';
import type { ServiceEvent } from '../webhook/service-event.ts';
import type { Call } from './call.ts';

/** Labels that every agent may have, besides those its calls have had before. */
export const DEFAULT_INTENTS = [
  'booking',
  'support',
  'sales',
  'billing',
  'information',
  'transfer',
  'complaint',
  'other',
] as const;

export interface CallAnalysis {
  readonly summary: string;
  readonly sentiment: 'positive' | 'neutral' | 'negative';
  /** From 0 (bad) to 1 (good). */
  readonly sentimentScore: number;
  /** snake_case. */
  readonly intentDetected: string;
}

/** An ended call that waits for its analysis. */
export interface AnalysisJob {
  readonly callId: string;
  /** Tries that have failed. */
  readonly attempts: number;
  readonly endedAt: Date;
}

export interface AnalysisStore {
  /** Rings after a call that was answered has ended. */
  readonly bell: Notifier;

  /** Jobs whose time has come, oldest first. */
  due(environment: Environment, now: Date, limit: number): readonly AnalysisJob[];

  /** Puts a job off after a failed try. */
  retryAt(callId: string, dueAt: Date): void;

  /** Saves the analysed call with its event, and takes the job away: all or nothing. Nothing when the job is gone. */
  finish(call: Call, events: readonly ServiceEvent[]): void;

  /** Labels that calls of this agent have had, most frequent first. */
  intentsOf(agentId: string, limit: number): readonly string[];

  /** Whether any job of this environment waits, due or not. */
  isAnyWaiting(environment: Environment): boolean;

  /** How many jobs wait, of both environments. */
  count(): number;
}
