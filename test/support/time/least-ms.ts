/** Times work where only its order of magnitude matters. */

/** @returns how long the quickest of some runs took, in milliseconds: the others were held up by something else. */
export async function leastMs(work: () => unknown, runs = 7): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const startMs = performance.now();
    await work();
    leastMs = Math.min(leastMs, performance.now() - startMs);
  }
  return leastMs;
}
