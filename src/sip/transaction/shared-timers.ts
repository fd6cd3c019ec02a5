/** A clock whose waits of equal length share one alarm: a busy engine has a hundred thousand of them. */
import type { Clock } from '../../lib/clock.ts';

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

/**
 * Under load waits end in groups, up to that much late: waking for each costs more than what it does. Of long waits, which
 * only end what nobody asks for any more, it is a small part: 100 ms of 32 seconds.
 */
const GRAIN_MS = 10;
const GRAIN_OF_DELAY = 1 / 320;

/** Timers of Node count whole milliseconds, and so may ring that much early. */
const EARLY_MS_MAX = 1;

/** What is ended by its wait. The line holds the thing itself: a function that ends it would be two objects more, a hundred thousand times. */
export interface Ending {
  abort(): void;
}

type Ring = (() => void) | Ending;

/** Waits that are kept together. A list of them all would be copied as it grows, while a hundred thousand stand in it. */
const GROUP_WAITS = 256;

/** Neighbours in a line: no object each, since most of them stand there for 32 seconds and are moved about by the garbage collector. */
class WaitGroup {
  readonly endsAtMs: number[] = [];
  size = 0;
  /** Undefined once it has rung or was cancelled. Of full length from the start: a list that grows leaves a copy behind which nobody clears. */
  readonly rings: (Ring | undefined)[] = new Array(GROUP_WAITS).fill(undefined);
  next: WaitGroup | undefined;
}

class WaitLine {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #grainMs: number;
  readonly #onEmpty: () => void;
  #first = new WaitGroup();
  #last = this.#first;
  /** Place in the first group of the first that may not have ended. */
  #place = 0;
  #cancelAlarm: () => void;

  /** Made for its first wait, which is to join at once. `onEmpty` is called when its alarm finds nobody, and when it is closed. */
  constructor(clock: Clock, delayMs: number, onEmpty: () => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#grainMs = Math.max(GRAIN_MS, delayMs * GRAIN_OF_DELAY);
    this.#onEmpty = onEmpty;
    this.#cancelAlarm = this.#alarmAfter(delayMs);
  }

  /** @returns cancels the ring; safe to call twice, and after it rang. */
  join(ring: () => void): () => void {
    this.stand(ring);
    const group = this.#last;
    const place = group.size - 1;
    return () => {
      group.rings[place] = undefined;
    };
  }

  /** As `join`, for a wait that nobody cancels. */
  stand(ring: Ring): void {
    if (this.#last.size === GROUP_WAITS) {
      const group = new WaitGroup();
      this.#last.next = group;
      this.#last = group;
    }
    const group = this.#last;
    group.rings[group.size] = ring;
    group.size += 1;
    group.endsAtMs.push(this.#clock.nowMs() + this.#delayMs);
  }

  /** Forgets its waits, and that there is such a line. */
  close(): void {
    this.#cancelAlarm();
    for (let group: WaitGroup | undefined = this.#first; group !== undefined; group = group.next) {
      group.rings.fill(undefined);
    }
    this.#onEmpty();
  }

  #alarmAfter(waitMs: number): () => void {
    return this.#clock.after(waitMs, () => this.#ringAll());
  }

  /** Whatever one of them throws, the others have theirs. */
  #ringAll(): void {
    const nowMs = this.#clock.nowMs();
    let waitMsMin = 0;
    try {
      for (let ring = this.#next(nowMs); ring !== undefined; ring = this.#next(nowMs)) {
        waitMsMin = this.#grainMs;
        if (typeof ring === 'function') ring();
        else ring.abort();
      }
    } finally {
      this.#await(waitMsMin);
    }
  }

  /** Takes the first wait off that has ended by then, and the cancelled ones before it. */
  #next(nowMs: number): Ring | undefined {
    while (this.#isOccupied()) {
      const { rings, endsAtMs } = this.#first;
      const ring = rings[this.#place];
      if (ring !== undefined && (endsAtMs[this.#place] ?? 0) - nowMs >= EARLY_MS_MAX)
        return undefined;
      rings[this.#place] = undefined;
      this.#place += 1;
      if (ring !== undefined) return ring;
    }
    return undefined;
  }

  /** Whether anybody stands there, cancelled or not; goes on to the next group at the end of the first. */
  #isOccupied(): boolean {
    if (this.#place < this.#first.size) return true;
    const { next } = this.#first;
    if (next === undefined) return false;
    // What an old group leads to would be kept as long as the group itself: until the next full collection.
    this.#first.next = undefined;
    this.#first = next;
    this.#place = 0;
    return true;
  }

  #await(waitMsMin: number): void {
    if (!this.#isOccupied()) {
      this.close();
      return;
    }
    const endsAtMs = this.#first.endsAtMs[this.#place] ?? 0;
    this.#cancelAlarm = this.#alarmAfter(Math.max(endsAtMs - this.#clock.nowMs(), waitMsMin));
  }
}
