/** When an ended call is asked about again, and when its analysis can wait no longer; pure */
import type { AnalysisJob } from '../../domain/call/analysis.ts';

/** Waits after the first and the second failed try; there is no fourth try. */
const RETRY_WAITS_MS = [2000, 5000] as const;

/** After a call's end: the contract has 30 s, and the event has still to be written and sent. */
const DEADLINE_MS = 27_000;

/** A call that ended before this process started has its one try in this time. */
const DEADLINE_AFTER_START_MS = 10_000;

/** How long to wait after one more failed try, in milliseconds; undefined when there is no further one. */
export function retryWaitMs({ attempts }: AnalysisJob): number | undefined {
  return RETRY_WAITS_MS[attempts];
}

/** Until when the language model may be asked, in milliseconds since 1970. */
export function deadlineMs({ endedAt }: AnalysisJob, startedAtMs: number): number {
  return Math.max(endedAt.getTime() + DEADLINE_MS, startedAtMs + DEADLINE_AFTER_START_MS);
}
