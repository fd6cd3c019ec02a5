/** Asks the system to run the thread that calls it before others. */
import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Real-time priority of media threads: above ordinary threads, far below the kernel's own. */
const FIFO_PRIORITY = '10';

/** Real-time priority of threads that media threads come before. */
export const FIFO_PRIORITY_LOW = '5';
const NICENESS = -15;

/**
 * Tries real-time scheduling, then a better niceness. On Linux a thread has an id of its own, which tools for
 * processes accept too.
 *
 * @param priority of real-time scheduling, up to the limit `rtprio` of the system.
 * @returns the priority that the thread has now, in plain English.
 */
export async function raiseThreadPriority(priority = FIFO_PRIORITY): Promise<string> {
  const thread = threadNumber();
  if (thread === undefined) return 'normal: not on Linux';
  try {
    // Reset on fork (-R): threads and children that are born here must not inherit it.
    await run('chrt', ['-R', '-f', '-p', priority, String(thread)], { timeout: 2000 });
    return `real-time (SCHED_FIFO ${priority})`;
  } catch {
    // Not permitted, or no such program: the next best thing.
    return raiseNiceness(thread);
  }
}

function raiseNiceness(thread: number): string {
  try {
    setPriority(thread, NICENESS);
    return `niceness ${NICENESS}: real-time is not permitted (CAP_SYS_NICE)`;
  } catch {
    return 'normal: neither real-time nor a better niceness is permitted (CAP_SYS_NICE)';
  }
}

function threadNumber(): number | undefined {
  try {
    const [, thread] = /task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
    return thread === undefined ? undefined : Number(thread);
  } catch {
    return undefined;
  }
}
