/** Back-off of sources that guess passwords of telephones: waits that grow, then silence. */
import type { Clock } from '../../lib/clock.ts';

/** A mistyped password, on a telephone that tries again by itself. */
const FREE_TRIES = 5;

/** From there on a source that goes on in its wait gets no answer. */
const SILENT_FROM_TRIES = 8;

const FIRST_WAIT_MS = 2_000;
const WAIT_MS_MAX = 900_000;

/**
 * A right password makes the wrong ones before it forgotten, at most once in this time: else each registration of a telephone
 * would allow its address new guesses.
 */
const FORGIVE_MS_MIN = 600_000;

/** Challenges, and refusals in a wait, in ten seconds: a forged source must not have us flood its owner. */
const ANSWERS_MAX = 40;
const ANSWERS_MS = 10_000;

/** Sources that are kept; the one that failed longest ago is forgotten first. */
const SOURCES_MAX = 1000;

interface Tries {
  readonly count: number;
  /** No try before. */
  readonly nextAtMs: number;
  /** When a right password forgot wrong ones. */
  readonly forgivenAtMs: number;
}

const NO_TRIES: Tries = { count: 0, nextAtMs: 0, forgivenAtMs: Number.NEGATIVE_INFINITY };

/** Counts wrong passwords by source address. */
export class SourceBackOff {
  readonly #clock: Clock;
  readonly #tries = new Map<string, Tries>();
  #answers = new Map<string, number>();
  #answersFromMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long a source has to wait until its next try, in milliseconds; 0 when it may try now. */
  waitMs(sourceAddress: string): number {
    return Math.max(0, this.#triesOf(sourceAddress).nextAtMs - this.#clock.nowMs());
  }

  /** Whether a source gets no answer at all for now. */
  isSilenced(sourceAddress: string): boolean {
    const { count } = this.#triesOf(sourceAddress);
    const isGuessing = count >= SILENT_FROM_TRIES && this.waitMs(sourceAddress) > 0;
    return isGuessing || this.#answersOf(sourceAddress) >= ANSWERS_MAX;
  }

  /** Counts a challenge, or a refusal in a wait. */
  answered(sourceAddress: string): void {
    const count = this.#answersOf(sourceAddress);
    if (count > 0 || this.#answers.size < SOURCES_MAX) {
      this.#answers.set(sourceAddress, count + 1);
    }
  }

  /** Counts a wrong password. */
  failed(sourceAddress: string): void {
    const { forgivenAtMs, ...tries } = this.#triesOf(sourceAddress);
    const count = tries.count + 1;
    const waitMs =
      count <= FREE_TRIES
        ? 0
        : Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** (count - FREE_TRIES - 1));
    this.#tries.delete(sourceAddress);
    const [oldest] = this.#tries.keys();
    if (this.#tries.size >= SOURCES_MAX && oldest !== undefined) this.#tries.delete(oldest);
    const nextAtMs = this.#clock.nowMs() + waitMs;
    this.#tries.set(sourceAddress, { count, nextAtMs, forgivenAtMs });
  }

  /** Forgets the wrong passwords of a source that knew one, once in ten minutes. */
  succeeded(sourceAddress: string): void {
    const { count, forgivenAtMs } = this.#triesOf(sourceAddress);
    const nowMs = this.#clock.nowMs();
    if (count === 0 || nowMs - forgivenAtMs < FORGIVE_MS_MIN) return;
    this.#tries.set(sourceAddress, { ...NO_TRIES, forgivenAtMs: nowMs });
  }

  #triesOf(sourceAddress: string): Tries {
    return this.#tries.get(sourceAddress) ?? NO_TRIES;
  }

  #answersOf(sourceAddress: string): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#answersFromMs >= ANSWERS_MS) {
      this.#answers = new Map();
      this.#answersFromMs = nowMs;
    }
    return this.#answers.get(sourceAddress) ?? 0;
  }
}
