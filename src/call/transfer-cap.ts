/** Holds transfers within bounds that no model, and no caller behind it, can talk its way out of. */
import type { CallControl } from '../conversation/conversation-port.ts';
import type { Clock } from '../lib/clock.ts';

/** A busy colleague may be tried again, or another one; more is somebody playing with the model. */
const ATTEMPTS_A_CALL_MAX = 3;

const TRANSFERS_A_DAY_MAX = 200;

const DAY_MS = 86_400_000;

/** What has been tried so far. */
export interface TransferCounts {
  readonly madeInCall: number;
  readonly triedInCall: number;
  /** By the agent, since 00:00 UTC, over all its calls; failed ones count, since they rang as well. */
  readonly triedToday: number;
}

/** Why one more transfer may not be made; undefined when it may. */
export function refusalOfTransfer(counts: TransferCounts): string | undefined {
  if (counts.madeInCall > 0) return 'this call was handed over already';
  if (counts.triedInCall >= ATTEMPTS_A_CALL_MAX) return 'this call had its attempts';
  if (counts.triedToday >= TRANSFERS_A_DAY_MAX) return 'the agent has made too many today';
  return undefined;
}

/** Counts the transfers of every agent by UTC day, since the start of the process. */
export class TransferCap {
  readonly #clock: Clock;
  #day = 0;
  #triedToday = new Map<string, number>();

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** The control of one call, with its transfers counted and held within bounds. To be made once for each call. */
  limit(control: CallControl, agentId: string): CallControl {
    let madeInCall = 0;
    let triedInCall = 0;
    const count = () => {
      const triedToday = this.#todayOf(agentId);
      const refusal = refusalOfTransfer({ madeInCall, triedInCall, triedToday });
      if (refusal !== undefined) throw new Error(`Cannot hand the call over: ${refusal}`);
      triedInCall += 1;
      this.#triedToday.set(agentId, triedToday + 1);
    };
    return {
      ...control,
      transfer: async (number, summary, announcement) => {
        count();
        await control.transfer(number, summary, announcement);
        madeInCall += 1;
      },
      // Whoever was brought in may leave again: then the caller may be handed over still.
      bringIn: async (number, summary, announcement) => {
        count();
        await control.bringIn(number, summary, announcement);
      },
    };
  }

  #todayOf(agentId: string): number {
    const day = Math.floor(this.#clock.nowMs() / DAY_MS);
    if (day !== this.#day) this.#triedToday = new Map();
    this.#day = day;
    return this.#triedToday.get(agentId) ?? 0;
  }
}
