/** Makes the analysis job of a call that has just ended. */
import type { Call } from '../../domain/call/call.ts';
import type { Queries } from '../queries.ts';
import { build } from '../sqlite/schema.ts';

/** Runs inside the transaction that ends the call. A call has one job at most. */
export async function addAnalysisJob(
  transaction: Queries,
  { id: call_id, environment }: Call,
  endedAt: Date,
): Promise<void> {
  const row = { call_id, environment, attempts: 0, ended_at: endedAt.getTime(), due_at: 0 };
  await transaction.run(
    build
      .insertInto('analysis_jobs')
      .values(row)
      .onConflict((conflict) => conflict.doNothing()),
  );
}
