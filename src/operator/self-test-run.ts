/** The self-test as the dashboard runs it: one at a time, in a process of its own; the newest report is kept in memory. */
import type { Clock } from '../lib/clock.ts';

/** What a run came to. */
export interface SelfTestOutcome {
  /** No engine failed. */
  readonly isPassed: boolean;
  /** For people, without private data; what went wrong where there is no report. */
  readonly report: string;
}

/** Runs the self-test. Aborting the signal ends its process. Never rejects. */
export type RunSelfTest = (signal: AbortSignal) => Promise<SelfTestOutcome>;

export interface SelfTestState {
  readonly state: 'never' | 'running' | 'passed' | 'failed';
  readonly startedAt: Date | null;
  /** Of the newest run that has ended. */
  readonly report: string | null;
}

export class SelfTestRun {
  readonly #run: RunSelfTest;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #state: SelfTestState = { state: 'never', startedAt: null, report: null };

  constructor(options: { readonly run: RunSelfTest; readonly clock: Clock }) {
    this.#run = options.run;
    this.#clock = options.clock;
  }

  get state(): SelfTestState {
    return this.#state;
  }

  /** Starts a run. @returns false when one is under way, or the server stops. */
  start(): boolean {
    if (this.#state.state === 'running' || this.#stopping.signal.aborted) return false;
    const startedAt = this.#clock.now();
    this.#state = { ...this.#state, state: 'running', startedAt };
    void this.#run(this.#stopping.signal).then(({ isPassed, report }) => {
      this.#state = { state: isPassed ? 'passed' : 'failed', startedAt, report };
    });
    return true;
  }

  /** Ends a run under way. Safe to call twice. */
  stop(): void {
    this.#stopping.abort();
  }
}
