/** How late the event loop runs what is due. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;

/** Measures from `start` to `stop`. */
export class EventLoopLag {
  #monitor: ReturnType<typeof monitorEventLoopDelay> | undefined;

  /** Safe to call twice. */
  start(): void {
    this.#monitor ??= monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#monitor.enable();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#monitor?.disable();
  }

  /** The 99th percentile since the last time it was taken, in seconds; 0 while nothing was measured. */
  takeSeconds(): number {
    const monitor = this.#monitor;
    if (monitor === undefined || monitor.count === 0) return 0;
    // The monitor counts its own timer's interval as delay.
    const lagMs = monitor.percentile(99) / 1e6 - RESOLUTION_MS;
    monitor.reset();
    return Math.max(0, lagMs) / 1000;
  }
}
