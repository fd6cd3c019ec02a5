/** Writes one call's record in order; retries while the database refuses writes. */

import type { Agent } from '../../domain/agent/agent.ts';
import type { Call, CallChange, CallDirection, EndReason } from '../../domain/call/call.ts';
import type { CallPrice } from '../../domain/call/call-cost.ts';
import { callEndedEvent, callStartedEvent } from '../../domain/call/call-events.ts';
import { endCall, type Failure, moveCall, newCall } from '../../domain/call/call-life.ts';
import { StoreError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';

/** A call of the longest allowed duration writes far less; more than this means that the disk is gone for good. */
const WAITING_MAX = 2000;

const RETRY_MS = 1000;

/**
 * Queues writes, in order, while the database refuses them; the call goes on meanwhile. Only `StoreError` is worth a new try: another error is a mistake of
 * ours, and its entry is lost.
 */
export class CallJournal {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: (() => Promise<unknown>)[] = [];
  /** Also while it waits for the next try. */
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

/** The record of a call that begins to ring. */
export function ringing(facts: {
  readonly id: string;
  readonly agent: Agent;
  readonly direction: CallDirection;
  readonly from: string;
  readonly to: string;
  readonly carrierCallSid: string;
  readonly metadata?: Call['metadata'] | undefined;
  readonly now: Date;
}): Call {
  const { agent, carrierCallSid, metadata = {}, ...beginning } = facts;
  return moveCall(newCall(agent, { ...beginning, metadata }), 'ringing', {
    startedAt: facts.now,
    carrierCallSid,
  });
}

/** The record of a call that leaves the queue to be dialled: it began now, and nothing keeps it any more. */
export function dialling(call: Call, now: Date): Call {
  return moveCall(call, 'ringing', { startedAt: now, failureReason: null });
}

/** The caller was picked up, or the callee answered: `call.started`. */
export function answered(
  call: Call,
  facts: {
    readonly now: Date;
    readonly recordingFile: string | null;
    /** What the carrier charges; null where that is unknown. */
    readonly price: CallPrice | null;
    readonly eventId: string;
  },
): CallChange {
  const { now: answeredAt, recordingFile, price } = facts;
  const changes = { answeredAt, recordingFile, price };
  const moved = moveCall(call, 'in_progress', changes);
  return {
    call: moved,
    events: [callStartedEvent(moved, { id: facts.eventId, now: facts.now })],
  };
}

/** The call is over: `call.ended`, created at `eventAt` (later than the end, after a crash). */
export function ended(
  call: Call,
  facts: {
    readonly endedAt: Date;
    readonly eventAt: Date;
    readonly reason: EndReason;
    /** Of a call that fails. */
    readonly failure?: Failure | undefined;
    readonly eventId: string;
  },
): CallChange {
  const { reason: endReason, endedAt, failure } = facts;
  const over = endCall(call, { endReason, endedAt, failure });
  const now = over.endedAt !== null && over.endedAt > facts.eventAt ? over.endedAt : facts.eventAt;
  return { call: over, events: [callEndedEvent(over, { id: facts.eventId, now })] };
}
