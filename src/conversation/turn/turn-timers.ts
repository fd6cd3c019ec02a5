/** The waits of one conversation: one of each name at a time, so a wait set anew replaces the old one. */
import type { Clock } from '../../lib/clock.ts';
import type { TurnTimer } from './turn-event.ts';

export class TurnTimers {
  readonly #clock: Clock;
  readonly #onRing: (timer: TurnTimer) => void;
  /** Cancels each wait; without effect once it has rung. */
  readonly #waits = new Map<TurnTimer, () => void>();

  constructor(options: {
    readonly clock: Clock;
    readonly onRing: (timer: TurnTimer) => void;
  }) {
    this.#clock = options.clock;
    this.#onRing = options.onRing;
  }

  set(timer: TurnTimer, delayMs: number): void {
    this.cancel(timer);
    this.#waits.set(
      timer,
      this.#clock.after(delayMs, () => this.#onRing(timer)),
    );
  }

  cancel(timer: TurnTimer): void {
    this.#waits.get(timer)?.();
  }

  cancelAll(): void {
    for (const cancel of this.#waits.values()) cancel();
  }
}
