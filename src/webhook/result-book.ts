/** Writes results down in groups, and keeps them until they are written. */
import type { AttemptResult } from '../domain/outbox.ts';
import type { Clock } from '../lib/clock.ts';

/** Each commit writes the pages anew that it touches, and endpoints have pages of their own: results of so long go together. */
const GROUP_MS = 20;

/** A full group is written at once. It bounds what a crash makes the next process do again. */
const GROUP_RESULTS = 256;

/** While the disk is full, say, trying more often helps nobody. */
const TRY_AGAIN_MS = 1000;

interface ResultBookOptions {
  readonly clock: Clock;
  /** @throws when they could not be written, and are to be kept. */
  readonly write: (results: readonly AttemptResult[]) => void;
  /** Called when writing begins to fail, not at every try. */
  readonly onTrouble: (error: unknown) => void;
}

/** Holds the results that are not written yet. Its length is bounded by whoever makes attempts. */
export class ResultBook {
  readonly #options: ResultBookOptions;
  #results: AttemptResult[] = [];
  #cancelTimer: (() => void) | undefined;
  #isTroubled = false;

  constructor(options: ResultBookOptions) {
    this.#options = options;
  }

  /** Whether the newest try to write failed. */
  get isTroubled(): boolean {
    return this.#isTroubled;
  }

  /** @param isLast No other result is to come soon, so that it need not wait for a group. */
  add(result: AttemptResult, isLast: boolean): void {
    this.#results.push(result);
    if (this.#isTroubled) return;
    if (isLast || this.#results.length >= GROUP_RESULTS) this.flush();
    else this.#cancelTimer ??= this.#options.clock.after(GROUP_MS, () => this.flush());
  }

  /** Writes what there is. What cannot be written is kept, and tried again in a second. */
  flush(): void {
    this.stop();
    if (this.#results.length === 0) return;
    try {
      this.#options.write(this.#results);
      this.#results = [];
      this.#isTroubled = false;
    } catch (error) {
      if (!this.#isTroubled) this.#options.onTrouble(error);
      this.#isTroubled = true;
      this.#cancelTimer = this.#options.clock.after(TRY_AGAIN_MS, () => this.flush());
    }
  }

  /** Ends the wait for the next group. Safe to call twice. */
  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
