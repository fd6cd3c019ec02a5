/** How much of a core the worker threads of this process use. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';

interface Use {
  readonly cpuMs: number;
  readonly atMs: number;
}

/** Knows the threads that are started between `start` and `stop`. */
export class ThreadUse {
  readonly #clock: Clock;
  readonly #uses = new Map<Worker, Use | undefined>();
  readonly #shares = new Map<Worker, number>();
  /** Threads that have not answered yet. */
  readonly #asked = new Set<Worker>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Safe to call twice. */
  start(): void {
    this.stop();
    process.on('worker', this.#watch);
  }

  /** Safe to call twice. */
  stop(): void {
    process.off('worker', this.#watch);
  }

  /** Share of a core that the busiest thread used between the two times before that this was asked. */
  takeBusyShare(): number {
    for (const worker of this.#uses.keys()) void this.#ask(worker);
    return Math.max(0, ...this.#shares.values());
  }

  readonly #watch = (worker: Worker): void => {
    this.#uses.set(worker, undefined);
    worker.once('exit', () => {
      this.#uses.delete(worker);
      this.#shares.delete(worker);
      this.#asked.delete(worker);
    });
  };

  /** Threads answer when they come to it, so that their answers are known the next time. One that never does holds up no other. */
  async #ask(worker: Worker): Promise<void> {
    if (this.#asked.has(worker)) return;
    this.#asked.add(worker);
    // The thread may have ended meanwhile; it then has no usage.
    const usage = await worker.cpuUsage().catch(() => undefined);
    this.#asked.delete(worker);
    if (usage !== undefined) this.#note(worker, (usage.user + usage.system) / 1000);
  }

  #note(worker: Worker, cpuMs: number): void {
    if (!this.#uses.has(worker)) return;
    const before = this.#uses.get(worker);
    const now = { cpuMs, atMs: this.#clock.nowMs() };
    this.#uses.set(worker, now);
    const wallMs = now.atMs - (before?.atMs ?? now.atMs);
    if (before !== undefined && wallMs > 0) {
      this.#shares.set(worker, (cpuMs - before.cpuMs) / wallMs);
    }
  }
}

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
