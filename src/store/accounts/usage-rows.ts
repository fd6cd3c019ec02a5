/** Rows of the tables that are derived from calls: sums by day, and analyses to make; pure */

/** Calls of one UTC day that agree in everything that lists and analytics ask for, added up. */
export interface CallDayRow {
  readonly account_id: string;
  readonly environment: string;
  readonly agent_id: string;
  /** Days since 1970 of `CallRow.sort_at`. */
  readonly day: number;
  readonly direction: string;
  readonly status: string;
  readonly calls: number;
  /** Answered and over. */
  readonly answered: number;
  /** Over and never answered. */
  readonly missed: number;
  readonly billed_seconds: number;
  readonly sentiment_sum: number;
  readonly sentiment_count: number;
  /** Of `calls`, those that were erased since: lists leave them out, analytics do not. */
  readonly erased: number;
}

export interface IntentDayRow {
  readonly account_id: string;
  readonly environment: string;
  readonly agent_id: string;
  readonly day: number;
  readonly intent: string;
  readonly calls: number;
}

export interface AnalysisJobRow {
  readonly call_id: string;
  readonly environment: string;
  readonly attempts: number;
  readonly ended_at: number;
  readonly due_at: number;
}
