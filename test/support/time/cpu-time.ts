/** Measures work by the processor time it takes, so that whatever else the machine does counts little. */

/** Tries of which the fastest counts: it is the one that was disturbed least. */
const TRIES = 5;

/** Processor time of the calling thread, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Processor time that `work` takes, in milliseconds: the least of several tries. */
export function fastestCpuMs(work: () => void): number {
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const startedAtMs = cpuMs();
    work();
    fastestMs = Math.min(fastestMs, cpuMs() - startedAtMs);
  }
  return fastestMs;
}
