/** Admission of live calls by measured load: event loop, threads, recogniser and memory. */
import { freemem, totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { ReadinessCheck } from '../../domain/call/engine-state.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics/metrics.ts';
import { EventLoopLag, ThreadUse } from '../../lib/process/thread-use.ts';
import {
  AdmissionWatch,
  AdmittingRegistry,
  callsLeft,
  type Headroom,
  loadsOf,
} from './admission-watch.ts';

interface Options {
  readonly callsMax: number;
  readonly metrics: Metrics;
  /** Called when a call is over and on record. */
  readonly onGone?: (callId: string) => void;
  /** The worker threads so far; without it, only those that start after `watchThreads` count. */
  readonly threads?: ThreadUse | undefined;
  readonly log: Logger;
}

/** The registry of live calls, and the measurements that close it. */
export class LiveAdmission {
  /** The live calls. */
  readonly registry: AdmittingRegistry;
  readonly watch: AdmissionWatch;
  readonly #options: Options;
  readonly #lag = new EventLoopLag();
  readonly #threads: ThreadUse;
  #loopUse = performance.eventLoopUtilization();

  constructor(options: Options) {
    this.#options = options;
    this.#threads = options.threads ?? new ThreadUse(systemClock);
    const { callsMax, log, onGone } = options;
    this.watch = new AdmissionWatch({
      measure: () => this.#measure(),
      clock: systemClock,
      log,
    });
    this.registry = new AdmittingRegistry({
      callsMax,
      watch: this.watch,
      ...(onGone && { onGone }),
    });
  }

  /** Counts the threads that start from now on. Safe to call twice. */
  watchThreads(): void {
    this.#threads.start();
  }

  /** Begins to measure. Call it once, after the start: a start is busy, and must refuse no call. */
  start(): void {
    this.#lag.start();
    this.watch.start();
    this.#options.metrics.watchAdmission(() => {
      const { headroom } = this.watch;
      return headroom && { callsLeft: this.#callsLeft(headroom), loads: loadsOf(headroom) };
    });
  }

  /** Safe to call twice. */
  stop(): void {
    this.watch.stop();
    this.#lag.stop();
    this.#threads.stop();
  }

  /** Counts a refused call by the resource that was short; a registry with `callsMax` calls counts none. */
  refused(): void {
    const { registry, watch } = this;
    if (watch.shortage === null || registry.size >= registry.callsMax) return;
    this.#options.metrics.callShed(watch.shortage);
  }

  /** Check for `/readyz`. Always ok: a server that a balancer takes out for its load would end the calls that it protects. */
  check(): ReadinessCheck {
    const { shortage } = this.watch;
    const state =
      shortage === null ? 'takes new calls' : `refuses new calls: short of ${WORDS[shortage]}`;
    return { name: 'room for calls', isOk: true, state };
  }

  #callsLeft(headroom: Headroom): number {
    const inProgress = this.registry.size;
    return callsLeft(headroom, { inProgress, callsFree: this.registry.free });
  }

  #measure(): Headroom {
    const { metrics } = this.#options;
    const loopUse = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loopUse, this.#loopUse);
    this.#loopUse = loopUse;
    return {
      loopLagMs: this.#lag.takeSeconds() * 1000,
      mainBusyShare: utilization,
      threadBusyShare: this.#threads.takeBusyShare(),
      recognitionMs: metrics.modelTimes.recentMs('stt'),
      recognitionAloneMs: metrics.modelTimes.quickestMs('stt'),
      memoryUsedShare: memoryUsedShare(),
    };
  }
}

const WORDS = {
  event_loop: 'time on the main thread',
  worker_thread: 'time on the threads that hear and play sound',
  recogniser: 'time for recognising speech',
  memory: 'memory',
} as const;

/** Share of the machine's memory, or of the container's limit. */
function memoryUsedShare(): number {
  const machine = 1 - freemem() / totalmem();
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < totalmem();
  return isLimited ? Math.max(machine, process.memoryUsage.rss() / limit) : machine;
}
