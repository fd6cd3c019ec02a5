/** Tries something until it works, with pauses that grow. */
import type { Clock } from '../../../lib/clock.ts';

/** What failed for want of memory or of a file on its way may work soon; what is broken is asked seldom. */
const WAIT_MS_MIN = 1000;
const WAIT_MS_MAX = 60_000;

export class StartAgain {
  readonly #clock: Clock;
  readonly #attempt: () => Promise<boolean>;
  #waitMs = WAIT_MS_MIN;
  #isStopped = false;
  #cancel: () => void = () => undefined;

  /** @param options.attempt tells whether it worked; must not reject. */
  constructor(options: { readonly clock: Clock; readonly attempt: () => Promise<boolean> }) {
    this.#clock = options.clock;
    this.#attempt = options.attempt;
  }

  /** Tries after a pause. To be called once, after the first failure. */
  start(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#clock.after(this.#waitMs, () => void this.#try());
    this.#waitMs = Math.min(WAIT_MS_MAX, 2 * this.#waitMs);
  }

  /** Tries no more. Safe to call twice. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  async #try(): Promise<void> {
    const isDone = await this.#attempt();
    if (!isDone) this.start();
  }
}
