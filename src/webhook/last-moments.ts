/** The end of a deliverer: what is due goes out for a second, and has until the next for its answers. */
import type { Clock } from '../lib/clock.ts';

/** How the last calls ended was written in the moments before, and is still to be sent. */
const SENDING_MS_MAX = 1000;

/** Counted from the same moment. */
const ANSWERS_MS_MAX = 2000;

/** Begins when it is made. */
export class LastMoments {
  readonly #sent = Promise.withResolvers<void>();
  readonly #answered = Promise.withResolvers<void>();
  readonly #cancels: readonly (() => void)[];

  constructor(clock: Clock) {
    this.#cancels = [
      clock.after(SENDING_MS_MAX, this.#sent.resolve),
      clock.after(ANSWERS_MS_MAX, this.#answered.resolve),
    ];
  }

  /** Resolves when nothing more is to be sent, or the time for it is over. */
  get sent(): Promise<void> {
    return this.#sent.promise;
  }

  /** Resolves when nothing is on its way any more, or the time for it is over. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  nothingToSend(): void {
    this.#sent.resolve();
  }

  nothingOnItsWay(): void {
    this.#answered.resolve();
  }

  /** Waits for nothing any more. Safe to call twice. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }
}
