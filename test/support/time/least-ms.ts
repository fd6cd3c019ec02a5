/** Times work where only its order of magnitude matters. */

/** @returns how long the quickest of some runs took, in milliseconds: the others were held up by something else. */
export function leastMs(work: () => unknown, runs = 7): number {
  const took = Array.from({ length: runs }, () => {
    const startMs = performance.now();
    work();
    return performance.now() - startMs;
  });
  return Math.min(...took);
}
