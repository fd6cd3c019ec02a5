/** Tells the operator of refused callers without letting a scanner fill the disk: one line in a while. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';

const PAUSE_MS = 10_000;

export class RefusalLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  #count = 0;
  #stopTimer: (() => void) | undefined;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Logs the first at once, and those of the next ten seconds together. */
  count(sourceAddress: string): void {
    this.#count += 1;
    if (this.#stopTimer === undefined) this.#write(sourceAddress);
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #write(sourceAddress: string): void {
    this.#log.warn(
      { sourceAddress, count: this.#count },
      'refused calls from a host that no SIP trunk allows',
    );
    this.#count = 0;
    this.#stopTimer = this.#clock.after(PAUSE_MS, () => {
      this.#stopTimer = undefined;
      if (this.#count > 0) this.#write(sourceAddress);
    });
  }
}
