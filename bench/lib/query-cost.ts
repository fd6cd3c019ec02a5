/** What a synchronous query costs: this process's CPU time and the wall's, over many runs of it. */
import { cpuSecondsOf, percentile } from './harness.ts';

export interface QueryCost {
  /** Mean. */
  readonly cpuMs: number;
  /** Median. */
  readonly wallMs: number;
}

const WARM_RUNS = 3;

/** Runs `query` so many times, after a few that do not count. */
export async function costOf(query: () => unknown, runs: number): Promise<QueryCost> {
  for (let run = 0; run < WARM_RUNS; run += 1) await query();
  const wallMs: number[] = [];
  const before = cpuSecondsOf(process.pid);
  for (let run = 0; run < runs; run += 1) {
    const startedMs = performance.now();
    await query();
    wallMs.push(performance.now() - startedMs);
  }
  const cpuMs = ((cpuSecondsOf(process.pid) - before) * 1000) / runs;
  return { cpuMs, wallMs: percentile(wallMs, 50) };
}

/** Median of what many costs have. */
export function middle(costs: readonly QueryCost[], pick: (cost: QueryCost) => number): number {
  return percentile(costs.map(pick), 50);
}
