/** Whether another call may join the queue, without counting those in it each time. */
import type { Environment } from '../../domain/account/account.ts';
import type { CallDirection, CallStore } from '../../domain/call/call.ts';
import { QUEUED_CALLS_MAX } from '../../domain/dialing/outbound-rules.ts';

/**
 * The places of the queue of one direction. Only the interface adds calls to it, and all of them take a place here; other
 * parts take calls out. So what was counted once, and what joined since, is the most that can be in it.
 */
export class QueueRoom {
  readonly #calls: Pick<CallStore, 'countQueued'>;
  readonly #direction: CallDirection;
  readonly #mostWaiting = new Map<Environment, number>();
  readonly #counting = new Map<Environment, Promise<void>>();

  constructor(calls: Pick<CallStore, 'countQueued'>, direction: CallDirection) {
    this.#calls = calls;
    this.#direction = direction;
  }

  /** Takes a place for a call, if there is one. A place whose call is not saved after all is found free at the next count. */
  async takePlace(environment: Environment): Promise<boolean> {
    if (this.#mostWaitingIn(environment) >= QUEUED_CALLS_MAX) await this.#count(environment);
    const waiting = this.#mostWaitingIn(environment);
    const isFree = waiting < QUEUED_CALLS_MAX;
    if (isFree) this.#mostWaiting.set(environment, waiting + 1);
    return isFree;
  }

  #mostWaitingIn(environment: Environment): number {
    return this.#mostWaiting.get(environment) ?? QUEUED_CALLS_MAX;
  }

  /** Requests that come together share one count, or each would take the same last place. */
  #count(environment: Environment): Promise<void> {
    const counting =
      this.#counting.get(environment) ??
      this.#calls
        .countQueued(environment, this.#direction)
        .then((waiting) => void this.#mostWaiting.set(environment, waiting))
        .finally(() => this.#counting.delete(environment));
    this.#counting.set(environment, counting);
    return counting;
  }
}
