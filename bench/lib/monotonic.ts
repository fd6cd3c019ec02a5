/** The machine's own time, the same for all its threads and processes, and never set anew. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
