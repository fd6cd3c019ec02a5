/** Work that repeats: when asked for, and after the delay that its last run named; one run at a time. */
import type { Clock } from './clock.ts';

interface RepeaterOptions {
  readonly clock: Clock;
  /** Must not reject. @returns milliseconds until the next run, if none is asked for earlier; undefined for none. */
  readonly run: () => Promise<number | undefined>;
}

/** Repeats one piece of work; `stop` waits for the run in progress. */
export class Repeater {
  readonly #options: RepeaterOptions;
  #running: Promise<void> | undefined;
  #isDue = false;
  #isStopped = false;
  #cancelNext: () => void = () => undefined;

  constructor(options: RepeaterOptions) {
    this.#options = options;
  }

  /** Runs now, or again after the run in progress; once for several requests. */
  ask(): void {
    if (this.#isStopped) return;
    this.#isDue = true;
    this.#running ??= this.#runWhileDue();
  }

  /** Runs after the delay, unless asked for earlier. */
  askIn(delayMs: number): void {
    if (this.#isStopped) return;
    this.#cancelNext();
    this.#cancelNext = this.#options.clock.after(delayMs, () => this.ask());
  }

  /** Begins no further run, ever. Resolves at the end of the one in progress. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext();
    await this.#running;
  }

  async #runWhileDue(): Promise<void> {
    while (this.#isDue && !this.#isStopped) {
      this.#isDue = false;
      this.#cancelNext();
      const delayMs = await this.#options.run();
      if (delayMs !== undefined) this.askIn(delayMs);
    }
    this.#running = undefined;
  }
}
