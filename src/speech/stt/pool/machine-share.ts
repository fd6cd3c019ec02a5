/** How many recogniser processes a machine gets, and with how many threads each; pure */

/** More processes would each hold the model for little use. */
const PROCESSES_MAX = 8;

/** What one process may need with a model of the middle size. */
const BYTES_PER_PROCESS = 2 ** 30;

/**
 * As many processes as cores, so that nobody waits while a core is free; threads only where there are more cores than
 * processes, because two calls at once are served better by two threads apart than by two together.
 */
export function machineShare(machine: { readonly cores: number; readonly memoryBytes: number }): {
  readonly processes: number;
  readonly threads: number;
} {
  const { cores, memoryBytes } = machine;
  const fitting = Math.floor(memoryBytes / BYTES_PER_PROCESS);
  const processes = Math.max(1, Math.min(cores, PROCESSES_MAX, fitting));
  return { processes, threads: Math.max(1, Math.floor(cores / processes)) };
}
