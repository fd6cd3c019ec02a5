/** Pacer, the media clock: calls every session once each 20 ms, by absolute deadlines, a millisecond's sessions at a time. */
import type { Clock } from '../../lib/clock.ts';
import { FRAME_MS } from '../audio-stream.ts';

/** Called every 20 ms. */
export interface Paced {
  onTick(nowMs: number): void;
}

/** A session's place in the pacer. */
interface Entry {
  readonly session: Paced;
  /** Step of its next call; its slot is that modulo 20. */
  step: number;
}

/** After a longer stall (a suspended machine) the missed ticks are skipped. */
const CATCH_UP_MS_MAX = 200;

/** A timer may ring this much early: it counts whole milliseconds. */
const EARLY_MS = 0.1;

/**
 * 20 slots, one step each millisecond. A session has one slot and is called at that slot's step. The deadline of step n is
 * start + n ms, however late the steps before it were, so that the steps do not drift; a late step runs at once. The
 * thread sleeps while no session is due.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #onFault: (session: Paced, error: unknown) => void;
  readonly #slots: readonly Set<Entry>[] = Array.from({ length: FRAME_MS }, () => new Set());
  readonly #entries = new Map<Paced, Entry>();
  readonly #startedAtMs: number;
  /** Last step that was done. */
  #step = 0;
  #isStepping = false;
  #isStopped = false;
  #cancel: () => void = () => undefined;

  /** @param options.onFault is called with the error that a session threw, after its removal. */
  constructor(options: {
    readonly clock: Clock;
    readonly onFault: (session: Paced, error: unknown) => void;
  }) {
    this.#clock = options.clock;
    this.#onFault = options.onFault;
    this.#startedAtMs = this.#clock.nowMs();
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Ends all calls. Safe to call twice. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** Gives a session the emptiest slot. */
  add(session: Paced): void {
    const sizes = this.#slots.map(({ size }) => size);
    const slot = sizes.indexOf(Math.min(...sizes));
    const now = Math.ceil(this.#stepNow());
    this.#place(session, now + ((((slot - now) % FRAME_MS) + FRAME_MS) % FRAME_MS));
  }

  remove(session: Paced): void {
    const entry = this.#entries.get(session);
    if (entry === undefined) return;
    this.#slots[entry.step % FRAME_MS]?.delete(entry);
    this.#entries.delete(session);
    if (this.size === 0) this.#cancel();
  }

  /** Milliseconds until a session's next tick. */
  waitMs(session: Paced): number {
    return Math.max(0, (this.#entries.get(session)?.step ?? 0) - this.#stepNow());
  }

  /** Moves a session so that its next tick is `delayMs` from now. */
  move(session: Paced, delayMs: number): void {
    this.#place(session, Math.max(this.#step + 1, Math.round(this.#stepNow() + delayMs)));
  }

  #stepNow(): number {
    return this.#clock.nowMs() - this.#startedAtMs;
  }

  #place(session: Paced, step: number): void {
    this.remove(session);
    const entry = { session, step };
    this.#slots[step % FRAME_MS]?.add(entry);
    this.#entries.set(session, entry);
    if (!this.#isStepping) this.#sleep();
  }

  /** Sleeps until the next slot that has sessions. */
  #sleep(): void {
    this.#cancel();
    if (this.#isStopped || this.size === 0) return;
    let step = this.#step + 1;
    while (this.#slots[step % FRAME_MS]?.size === 0) step += 1;
    const delayMs = Math.max(0, step - this.#stepNow());
    this.#cancel = this.#clock.after(delayMs, () => this.#wake());
  }

  #wake(): void {
    const nowMs = this.#clock.nowMs();
    const last = Math.floor(nowMs + EARLY_MS - this.#startedAtMs);
    this.#isStepping = true;
    this.#step = Math.max(this.#step, last - CATCH_UP_MS_MAX);
    while (this.#step < last) {
      this.#step += 1;
      this.#callSlot(nowMs);
    }
    this.#isStepping = false;
    this.#sleep();
  }

  #callSlot(nowMs: number): void {
    for (const entry of this.#slots[this.#step % FRAME_MS] ?? []) {
      if (entry.step > this.#step) continue;
      entry.step = this.#step + FRAME_MS;
      this.#call(entry.session, nowMs);
    }
  }

  #call(session: Paced, nowMs: number): void {
    try {
      session.onTick(nowMs);
    } catch (error) {
      this.remove(session);
      this.#onFault(session, error);
    }
  }
}

/** Milliseconds by which rounding may make a stream seem ahead. */
const AHEAD_TOLERANCE_MS = 1;

/**
 * When a session's packets leave: every 20 ms, earlier where a reply begins. A talkspurt starts at once and moves the
 * session's 20 ms with it. The stream is then ahead of its time by less than a packet, and the first silence after the
 * talkspurt waits that much longer, so timestamps have no seam and a call of any length has no drift.
 */
export class SendSchedule {
  readonly #session: Paced;
  readonly #pacer: Pacer;
  #aheadMs = 0;

  constructor(session: Paced, pacer: Pacer) {
    this.#session = session;
    this.#pacer = pacer;
  }

  /** Makes this moment a sending time. @returns false, and changes nothing, when the stream would be too far ahead. */
  startNow(): boolean {
    const earlyMs = this.#pacer.waitMs(this.#session);
    if (this.#aheadMs + earlyMs > FRAME_MS + AHEAD_TOLERANCE_MS) return false;
    this.#aheadMs += earlyMs;
    this.#pacer.move(this.#session, FRAME_MS);
    return true;
  }

  /** At the end of a talkspurt, postpones the packet until the stream is no longer ahead. @returns false when it is not. */
  waitIfAhead(): boolean {
    if (this.#aheadMs < AHEAD_TOLERANCE_MS) return false;
    this.#pacer.move(this.#session, this.#aheadMs);
    this.#aheadMs = 0;
    return true;
  }
}
