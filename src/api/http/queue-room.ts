/** Whether another call may join the queue, without counting those in it each time. */
import type { Environment } from '../../domain/account/account.ts';
import type { CallDirection, CallStore } from '../../domain/call/call.ts';
import { QUEUED_CALLS_MAX } from '../../domain/dialing/outbound-rules.ts';

/**
 * The places of the queue of one direction. Only the interface adds calls to it, and all of them take a place here; whoever
 * else has to do with it takes calls out. So what was counted once, and what joined since, is the most that can be in it.
 */
export class QueueRoom {
  readonly #calls: Pick<CallStore, 'countQueued'>;
  readonly #direction: CallDirection;
  readonly #mostWaiting = new Map<Environment, number>();

  constructor(calls: Pick<CallStore, 'countQueued'>, direction: CallDirection) {
    this.#calls = calls;
    this.#direction = direction;
  }

  /** Takes a place for a call, if there is one. A place whose call is not saved after all is found free at the next count. */
  takePlace(environment: Environment): boolean {
    let waiting = this.#mostWaiting.get(environment) ?? QUEUED_CALLS_MAX;
    if (waiting >= QUEUED_CALLS_MAX) {
      waiting = this.#calls.countQueued(environment, this.#direction);
    }
    const isFree = waiting < QUEUED_CALLS_MAX;
    this.#mostWaiting.set(environment, isFree ? waiting + 1 : waiting);
    return isFree;
  }
}
