/** The self-test as the dashboard runs it: one at a time, in a process of its own; the newest report is kept in memory. */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../lib/clock.ts';
import { setLowPriority } from '../lib/process/child-supervisor.ts';

/** Result of a run. */
interface SelfTestOutcome {
  /** No engine failed. */
  readonly isPassed: boolean;
  /** Report for people, without private data; the failure where there is no report. */
  readonly report: string;
}

/** Runs the self-test. Aborting the signal ends its process. Never rejects. */
export type RunSelfTest = (signal: AbortSignal) => Promise<SelfTestOutcome>;

interface SelfTestState {
  readonly state: 'never' | 'running' | 'passed' | 'failed';
  readonly startedAt: Date | null;
  /** Report of the newest run that has ended. */
  readonly report: string | null;
}

/** The self-test as the dashboard starts it: one run at a time. */
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

const ADMIN = fileURLToPath(new URL('../cli/admin.ts', import.meta.url));

/** The command takes two or three minutes; a process that runs this long hangs. */
const RUN_MS_MAX = 15 * 60_000;

const OUTPUT_CHARACTERS_MAX = 100_000;

/** Runs the operator's command in a process of low priority, as calls in progress come first; same environment and working directory. */
export function runSelfTestProcess(signal: AbortSignal): Promise<SelfTestOutcome> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(RUN_MS_MAX)]);
  const child = spawn(process.execPath, [ADMIN, 'self-test'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: limit,
    killSignal: 'SIGKILL',
  });
  if (child.pid !== undefined) setLowPriority(child.pid);
  const { promise, resolve } = Promise.withResolvers<SelfTestOutcome>();
  let output = '';
  const keep = (text: string) => {
    output = `${output}${text}`.slice(0, OUTPUT_CHARACTERS_MAX);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  child.once('error', (error) => resolve({ isPassed: false, report: error.message }));
  child.once('close', (status, cause) => {
    const report = output.trim() || `The self-test ended with ${cause ?? status}`;
    resolve({ isPassed: status === 0, report });
  });
  return promise;
}
