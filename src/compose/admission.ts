/** Composition root: takes new calls only while there is room for them beside those in progress. */
import { freemem, totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import {
  AdmissionWatch,
  AdmittingRegistry,
  callsLeft,
  type Headroom,
  loadsOf,
} from '../call/admission/admission-watch.ts';
import type { ReadinessCheck } from '../domain/call/engine-state.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import { EventLoopLag, ThreadUse } from '../lib/process/thread-use.ts';
import type { SipTraceKeeper } from './sip-trace.ts';
import type { CallTracing } from './tracing.ts';

interface Options {
  readonly callsMax: number;
  readonly metrics: Metrics;
  readonly tracing?: CallTracing | undefined;
  readonly ladders?: SipTraceKeeper;
  /** Which threads there are already; those only that come after `watchThreads` unless given. */
  readonly threads?: ThreadUse | undefined;
  readonly log: Logger;
}

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
    const { callsMax, log, tracing, ladders } = options;
    this.watch = new AdmissionWatch({
      measure: () => this.#measure(),
      clock: systemClock,
      log,
    });
    const onGone = (callId: string) => {
      tracing?.callOver(callId);
      ladders?.callOver(callId);
    };
    this.registry = new AdmittingRegistry({ callsMax, watch: this.watch, onGone });
  }

  /** Before other threads are started. Safe to call twice. */
  watchThreads(): void {
    this.#threads.start();
  }

  /** To be called once. */
  start(): void {
    this.#lag.start();
    this.watch.start();
    this.#options.metrics.admission.watch(() => {
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

  /** A call was refused because the registry was full; counted where the number of calls was not the reason. */
  refused(): void {
    const { registry, watch } = this;
    if (watch.shortage === null || registry.size >= registry.callsMax) return;
    this.#options.metrics.admission.shed(watch.shortage);
  }

  /** For `/readyz`. Never a reason to be not ready: whoever takes the server out for it would end what it protects. */
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

/** Of the machine, or, where a container sets this process a limit, of that. */
function memoryUsedShare(): number {
  const machine = 1 - freemem() / totalmem();
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < totalmem();
  return isLimited ? Math.max(machine, process.memoryUsage.rss() / limit) : machine;
}
