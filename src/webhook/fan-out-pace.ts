/** When events become deliveries, and how many at a time, so that the calls on the same thread do not wait for it. */
import type { Outbox } from '../domain/outbox.ts';
import type { Clock } from '../lib/clock.ts';
import { BATCH_EVENTS_FIRST, nextBatchSize } from './batch-size.ts';

/** While every slot is taken, events wait so long at most until they are fanned out. */
const FAN_OUT_MS_MAX = 100;

export class FanOutPace {
  readonly #outbox: Pick<Outbox, 'fanOut'>;
  readonly #clock: Clock;
  #batchEvents = BATCH_EVENTS_FIRST;
  #mayHaveEvents = true;
  #fannedOutAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: { readonly outbox: Pick<Outbox, 'fanOut'>; readonly clock: Clock }) {
    this.#outbox = options.outbox;
    this.#clock = options.clock;
  }

  /** There may be events that were not looked at. */
  get mayHaveEvents(): boolean {
    return this.#mayHaveEvents;
  }

  eventsCame(): void {
    this.#mayHaveEvents = true;
  }

  /**
   * Fans a batch out, where that is not better left for later: while every slot is taken again as soon as it is free,
   * deliveries that wait for long are written twice. Not for long, as they may be for an endpoint that has room.
   *
   * @param isBehind whether there was no slot left the last time.
   */
  run(isBehind: boolean): void {
    const startedMs = this.#clock.nowMs();
    if (!this.#mayHaveEvents) return;
    if (isBehind && startedMs - this.#fannedOutAtMs < FAN_OUT_MS_MAX) return;
    const limit = this.#batchEvents;
    const events = this.#outbox.fanOut({ limit, now: this.#clock.now() });
    const endedMs = this.#clock.nowMs();
    this.#fannedOutAtMs = endedMs;
    this.#mayHaveEvents = events >= limit;
    if (this.#mayHaveEvents) this.#batchEvents = nextBatchSize(limit, endedMs - startedMs);
  }
}
