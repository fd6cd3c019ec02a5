/** A clock whose waits of equal length share one alarm: a busy engine has a hundred thousand of them. */
import type { Clock } from '../../lib/clock.ts';
import type { Ending } from './wait-line.ts';
import { WaitLine } from './wait-line.ts';

/** SIP has a handful of lengths: 64*T1, T1, T4. A length has its line until its alarm finds nobody there. */
export class WaitLines implements Clock {
  readonly #clock: Clock;
  readonly #lines = new Map<number, WaitLine>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  now(): Date {
    return this.#clock.now();
  }

  after(delayMs: number, ring: () => void): () => void {
    return this.#line(delayMs).join(ring);
  }

  /** Aborts it after that long, come what may. */
  endAfter(delayMs: number, ending: Ending): void {
    this.#line(delayMs).stand(ending);
  }

  /** Forgets all waits. Safe to call twice. */
  stop(): void {
    for (const line of [...this.#lines.values()]) line.close();
  }

  #line(delayMs: number): WaitLine {
    let line = this.#lines.get(delayMs);
    if (line === undefined) {
      line = new WaitLine(this.#clock, delayMs, () => this.#lines.delete(delayMs));
      this.#lines.set(delayMs, line);
    }
    return line;
  }
}
