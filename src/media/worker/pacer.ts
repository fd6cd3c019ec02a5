/** The media clock: calls every rider once each 20 ms, by absolute deadlines, a millisecond's riders at a time. */
import { type Clock, systemClock } from '../../lib/clock.ts';
import { FRAME_MS } from '../audio-stream.ts';

/** What is called every 20 ms. */
export interface Rider {
  ride(nowMs: number): void;
}

/** Where a rider sits. */
interface Seat {
  readonly rider: Rider;
  /** In which it is called next; its slot is that modulo 20. */
  turn: number;
}

/** After a longer stall (a suspended machine) the missed rounds are skipped rather than caught up. */
const CATCH_UP_MS_MAX = 200;

const NOBODY: ReadonlySet<Seat> = new Set();

/** What so many riders keep still lies in the processor's nearer memory: it does not matter where they sit. */
const NUDGED_RIDERS_MIN = 250;

/** A slot is crowded when it has so many times its share. */
const CROWD = 2;

/** A timer may ring this much early: it counts whole milliseconds. */
const EARLY_MS = 0.1;

/**
 * A pacer of 20 slots, a turn each millisecond. A rider sits in one slot and is called when the pacer passes it. The
 * deadline of turn n is start + n ms, whenever the turns before were done, so nothing drifts, and a late turn is
 * made up for at once. While no rider is due, the thread sleeps.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #onFault: (rider: Rider, error: unknown) => void;
  readonly #slots: readonly Set<Seat>[] = Array.from({ length: FRAME_MS }, () => new Set());
  readonly #seats = new Map<Rider, Seat>();
  readonly #startedAtMs: number;
  /** The last turn that was done. */
  #turn = 0;
  #isTurning = false;
  #isStopped = false;
  #cancel: () => void = () => undefined;

  constructor(options: {
    readonly clock: Clock;
    /** Called with what a rider threw; the rider has been removed. */
    readonly onFault: (rider: Rider, error: unknown) => void;
  }) {
    this.#clock = options.clock;
    this.#onFault = options.onFault;
    this.#startedAtMs = this.#clock.nowMs();
  }

  get size(): number {
    return this.#seats.size;
  }

  /** Calls nobody any more. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** Seats a rider in the emptiest slot. */
  add(rider: Rider): void {
    const sizes = this.#slots.map(({ size }) => size);
    const slot = sizes.indexOf(Math.min(...sizes));
    const now = Math.ceil(this.#turnNow());
    this.#seat(rider, now + ((((slot - now) % FRAME_MS) + FRAME_MS) % FRAME_MS));
  }

  remove(rider: Rider): void {
    const seat = this.#seats.get(rider);
    if (seat === undefined) return;
    this.#slots[seat.turn % FRAME_MS]?.delete(seat);
    this.#seats.delete(rider);
    if (this.size === 0) this.#cancel();
  }

  /** Milliseconds until the rider is called. */
  waitMs(rider: Rider): number {
    return Math.max(0, (this.#seats.get(rider)?.turn ?? 0) - this.#turnNow());
  }

  /** Moves a rider so that it is called `delayMs` from now. */
  move(rider: Rider, delayMs: number): void {
    this.#seat(rider, Math.max(this.#turn + 1, Math.round(this.#turnNow() + delayMs)));
  }

  /**
   * Moves a rider by one turn for good, because it would rather sit there.
   *
   * @param turns 1 for later, -1 for earlier.
   * @returns false, and leaves it where it is, when the slot there is crowded, or when there are few riders.
   */
  nudge(rider: Rider, turns: 1 | -1): boolean {
    const seat = this.#seats.get(rider);
    if (seat === undefined || this.size < NUDGED_RIDERS_MIN) return false;
    const turn = seat.turn + turns;
    const there = this.#slots[turn % FRAME_MS]?.size ?? 0;
    if (turn <= this.#turn || there >= (CROWD * this.size) / FRAME_MS) return false;
    this.#seat(rider, turn);
    return true;
  }

  #turnNow(): number {
    return this.#clock.nowMs() - this.#startedAtMs;
  }

  #seat(rider: Rider, turn: number): void {
    this.remove(rider);
    const seat = { rider, turn };
    this.#slots[turn % FRAME_MS]?.add(seat);
    this.#seats.set(rider, seat);
    if (!this.#isTurning) this.#sleep();
  }

  /** Sleeps until the next slot that has riders. */
  #sleep(): void {
    this.#cancel();
    if (this.#isStopped || this.size === 0) return;
    let turn = this.#turn + 1;
    while (this.#slots[turn % FRAME_MS]?.size === 0) turn += 1;
    const delayMs = Math.max(0, turn - this.#turnNow());
    this.#cancel = this.#clock.after(delayMs, () => this.#wake());
  }

  #wake(): void {
    const nowMs = this.#clock.nowMs();
    const last = Math.floor(nowMs + EARLY_MS - this.#startedAtMs);
    this.#isTurning = true;
    this.#turn = Math.max(this.#turn, last - CATCH_UP_MS_MAX);
    while (this.#turn < last) {
      this.#turn += 1;
      this.#callSlot(nowMs);
    }
    this.#isTurning = false;
    this.#sleep();
  }

  #callSlot(nowMs: number): void {
    const slot = this.#slots[this.#turn % FRAME_MS] ?? NOBODY;
    for (const seat of slot) {
      if (seat.turn > this.#turn) continue;
      seat.turn = this.#turn + FRAME_MS;
      this.#call(seat.rider, nowMs);
    }
  }

  #call(rider: Rider, nowMs: number): void {
    try {
      rider.ride(nowMs);
    } catch (error) {
      this.remove(rider);
      this.#onFault(rider, error);
    }
  }
}

/** Memory that the two threads share: how often the alarm has rung. */
export type AlarmMemory = Int32Array<SharedArrayBuffer>;

export function newAlarmMemory(): AlarmMemory {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Each thread makes one of its own over the same memory. */
export class Alarm {
  readonly #rings: AlarmMemory;
  #heard = 0;

  constructor(memory: AlarmMemory) {
    this.#rings = memory;
  }

  /** Wakes whoever sleeps, or keeps them from falling asleep. */
  ring(): void {
    Atomics.add(this.#rings, 0, 1);
    Atomics.notify(this.#rings, 0);
  }

  /**
   * Stops the thread for so long, or until the alarm rings.
   *
   * @returns false when it has rung since the sleep before this one.
   */
  sleep(lengthMs: number): boolean {
    const isOver = Atomics.wait(this.#rings, 0, this.#heard, lengthMs) === 'timed-out';
    if (!isOver) this.#heard = Atomics.load(this.#rings, 0);
    return isOver;
  }
}

/** A timer of the event loop may ring late by about so much; the rest of the wait is slept exactly. */
const TIMER_MS = 2;

/**
 * The event loop counts whole milliseconds and wakes for each packet. This clock gives it one turn, in which it takes
 * all packets that have come, and then sleeps the thread itself until the instant. So a thread with hundreds of sessions
 * wakes a thousand times a second rather than for every packet, and packets leave at their time; what arrives meanwhile
 * waits for a millisecond at most.
 *
 * @param alarm wakes the thread for a turn of its event loop: for a reply that is to begin now.
 */
export function steadyClock(alarm: Alarm): Clock {
  return {
    ...systemClock,
    after: (delayMs, ring) => {
      const dueAtMs = systemClock.nowMs() + delayMs;
      let cancel: () => void;
      const sleepOn = () => {
        const restMs = dueAtMs - systemClock.nowMs();
        if (restMs <= 0 || alarm.sleep(restMs)) ring();
        else cancel = afterTurn(sleepOn);
      };
      cancel =
        delayMs > TIMER_MS ? systemClock.after(delayMs - TIMER_MS, sleepOn) : afterTurn(sleepOn);
      return () => cancel();
    },
  };
}

/** Lets the event loop take what has come, then goes on. */
function afterTurn(act: () => void): () => void {
  const immediate = setImmediate(act);
  return () => clearImmediate(immediate);
}
