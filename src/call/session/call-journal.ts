/** Writes one call's record in order, and keeps trying while the database cannot be written. */
import { StoreError } from '../../domain/store-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';

/** A call of the longest allowed duration writes far less; more than this means that the disk is gone for good. */
const WAITING_MAX = 2000;

const RETRY_MS = 1000;

/**
 * A call goes on when its record cannot be written: what is to be written waits here, in order, and is written as
 * soon as the database takes it. Nothing overtakes. Only `StoreError` is worth a new try: another error is a mistake of
 * ours, and its entry is lost.
 */
export class CallJournal {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: (() => void)[] = [];
  #cancelRetry: (() => void) | undefined;
  #drained: (() => void)[] = [];

  constructor(options: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Runs `write` now, or after what already waits. */
  write(write: () => void): void {
    if (this.#waiting.length >= WAITING_MAX) {
      this.#log.error({ waiting: WAITING_MAX }, 'call record: entry lost, too many are waiting');
      return;
    }
    this.#waiting.push(write);
    if (this.#cancelRetry === undefined) this.#flush();
  }

  /** Resolves when everything has been written, or after `timeoutMs`. @returns whether all was written. */
  drained(timeoutMs: number): Promise<boolean> {
    if (this.#waiting.length === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const cancel = this.#clock.after(timeoutMs, () => resolve(false));
      this.#drained.push(() => {
        cancel();
        resolve(true);
      });
    });
  }

  #flush(): void {
    this.#cancelRetry = undefined;
    for (;;) {
      const write = this.#waiting[0];
      if (write === undefined) break;
      try {
        write();
      } catch (error) {
        if (!(error instanceof StoreError)) {
          // A mistake of ours would fail for ever, and hold up all that comes after it.
          this.#log.error({ err: error }, 'call record: entry lost, it cannot be written');
          this.#waiting.shift();
          continue;
        }
        this.#log.warn({ err: error, waiting: this.#waiting.length }, 'call record: will retry');
        this.#cancelRetry = this.#clock.after(RETRY_MS, () => this.#flush());
        return;
      }
      this.#waiting.shift();
    }
    const listeners = this.#drained;
    this.#drained = [];
    for (const listener of listeners) listener();
  }
}
