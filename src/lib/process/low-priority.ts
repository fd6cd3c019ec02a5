/** Child processes that let calls in progress go first. */
import { setPriority } from 'node:os';

/** As `nice -n 10`. */
const PRIORITY = 10;

/** Lowers the priority of a process; one that has ended, or a system that does not allow it, changes nothing. */
export function setLowPriority(pid: number): void {
  try {
    setPriority(pid, PRIORITY);
  } catch {
    // It then runs like everything else.
  }
}
