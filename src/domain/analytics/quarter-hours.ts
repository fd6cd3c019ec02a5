/** Sums of calls by quarter hour, and the contract of the store that has them. */
import type { Scope } from '../agent/agent.ts';
import type { EndReason } from '../call/call.ts';
import type { CallCost } from '../call/call-cost.ts';
import type { AnswerCounts } from './answer-times.ts';
import type { EngineCounts } from './engine-times.ts';
import type { ZonedSpan } from './zoned-span.ts';

/** Calls by outcome; those that are none of the three are not over. */
export interface Outcomes {
  readonly calls: number;
  readonly completed: number;
  /** Ended and never answered. */
  readonly missed: number;
  /** Answered, and broken off by an error. */
  readonly failed: number;
}

/** What calls add up to. */
export interface CallSums extends Outcomes, Readonly<Record<EndReason, number>> {
  readonly inbound: number;
  /** Answered and over: what durations are averaged over. */
  readonly answered: number;
  readonly billedSeconds: number;
  /** Calls that met the success criteria of their agent, of those that were judged by them. */
  readonly met: number;
  readonly judged: number;
  readonly positive: number;
  readonly neutral: number;
  readonly negative: number;
}

/** Times to answer, and those of the engines; without the engines' where calls ended before they were counted. */
export interface CountedAnswers {
  readonly counts: AnswerCounts;
  readonly engines: EngineCounts | null;
}

/** Since 1970, in UTC. */
interface QuarterHour {
  readonly quarterHour: number;
}

/** What to read. */
export interface SpanQuery {
  /** All agents of the account, unless given. */
  readonly agentId?: string | undefined;
  readonly span: ZonedSpan;
}

/** Reads sums of calls by quarter hour, which fit the days of any time zone. */
export interface QuarterHours {
  /** In order; quarter hours without calls are not there. */
  outcomes(scope: Scope, query: SpanQuery): Promise<readonly (Outcomes & QuarterHour)[]>;

  totals(scope: Scope, query: SpanQuery): Promise<CallSums>;

  /** Times to answer of calls that are over. */
  answers(scope: Scope, query: SpanQuery): Promise<readonly (QuarterHour & CountedAnswers)[]>;

  /** Sums of what carriers charge, one a currency that any call has, by its code. */
  costs(scope: Scope, query: SpanQuery): Promise<readonly CallCost[]>;

  /** Of agents that exist and had calls. */
  agents(
    scope: Scope,
    span: ZonedSpan,
  ): Promise<
    readonly (Outcomes & Pick<CallSums, 'met' | 'judged'> & { readonly agentId: string })[]
  >;
}
