/** The machine's monotonic clock, the same for all its threads and processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
