/** Writes one call's record in order; retries while the database refuses writes. */
import { StoreError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';

/** A call of the longest allowed duration writes far less; more than this means that the disk is gone for good. */
const WAITING_MAX = 2000;

const RETRY_MS = 1000;

/** Longest wait of an ended call's record for the database; after it the call is removed. */
const DRAIN_MS_MAX = 60_000;

/**
 * Queues writes, in order, while the database refuses them; the call goes on meanwhile. Only `StoreError` is worth a new try: another error is a mistake of
 * ours, and its entry is lost.
 */
export class CallJournal {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: (() => Promise<unknown>)[] = [];
  /** True also during the wait for the next try. */
  #isFlushing = false;
  #drained: (() => void)[] = [];

  constructor(options: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Runs `write` now, or after the writes that wait. */
  write(write: () => Promise<unknown>): void {
    if (this.#waiting.length >= WAITING_MAX) {
      this.#log.error({ waiting: WAITING_MAX }, 'call record: entry lost, too many are waiting');
      return;
    }
    this.#waiting.push(write);
    if (!this.#isFlushing) void this.#flush();
  }

  /** Resolves when everything has been written, or after `timeoutMs`. @returns whether all was written. */
  drained(timeoutMs = DRAIN_MS_MAX): Promise<boolean> {
    if (this.#waiting.length === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const cancel = this.#clock.after(timeoutMs, () => resolve(false));
      this.#drained.push(() => {
        cancel();
        resolve(true);
      });
    });
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    for (let write = this.#waiting[0]; write !== undefined; write = this.#waiting[0]) {
      try {
        await write();
      } catch (error) {
        if (error instanceof StoreError) {
          this.#log.warn({ err: error, waiting: this.#waiting.length }, 'call record: will retry');
          this.#clock.after(RETRY_MS, () => void this.#flush());
          return;
        }
        // A bug would fail on every retry and block all later entries.
        this.#log.error({ err: error }, 'call record: entry lost, it cannot be written');
      }
      this.#waiting.shift();
    }
    this.#isFlushing = false;
    const listeners = this.#drained;
    this.#drained = [];
    for (const listener of listeners) listener();
  }
}
