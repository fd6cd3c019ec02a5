/** Ends the process when its main thread hangs, so that a service manager starts it again. */
import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/** Start parameters of the thread. */
export interface WatchdogOrder {
  /** One 32-bit counter in shared memory: it changes while the main thread's event loop turns. */
  readonly beats: SharedArrayBuffer;
  readonly checkMs: number;
  /** Checks in a row without a new beat that end the process. */
  readonly missedMax: number;
}

/** Nothing that the main thread does takes longer: a call without sound for a minute is over anyway. */
const HANG_MS_MAX = 60_000;

const CHECKS = 12;

const BEATS = 3;

/**
 * Starts a thread that watches the calling one. Once that has not turned its event loop for `hangMs`, the thread writes to standard
 * error where it hangs, and ends the process by SIGKILL: no handler runs in a thread that hangs, and a core dump would have callers' words.
 *
 * Under a debugger, which may hold the thread as long as it likes, nothing is watched.
 *
 * @returns ends the watch; safe to call twice.
 */
export function startWatchdog(hangMs = HANG_MS_MAX): () => void {
  if (debuggerUrl() !== undefined) return () => undefined;
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(beats);
  const checkMs = hangMs / CHECKS;
  const order: WatchdogOrder = { beats, checkMs, missedMax: CHECKS };
  const thread = new Worker(new URL('./watchdog-thread.ts', import.meta.url), {
    workerData: order,
    execArgv: [],
  });
  thread.unref();
  const timer = setInterval(() => Atomics.add(counter, 0, 1), checkMs / BEATS);
  timer.unref();
  return () => {
    clearInterval(timer);
    void thread.terminate();
  };
}
