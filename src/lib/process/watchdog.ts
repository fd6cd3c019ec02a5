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

/** No work of the main thread takes this long, and a call without sound for a minute is over anyway. */
const HANG_MS_MAX = 60_000;

/** Checks within the limit. */
const CHECKS = 12;

/** Beats within a check: one that comes late is no hang. */
const BEATS = 3;

/**
 * Starts a thread that watches the calling one. When the event loop of the calling thread stands still for `hangMs`, the watchdog writes
 * that thread's stack to standard error, and ends the process by SIGKILL: no handler runs in a blocked thread, and a core dump has callers' words.
 *
 * Does nothing under a debugger, which may pause the thread for long.
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
