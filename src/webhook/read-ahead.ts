/** Due deliveries that were read before there was room for them, so that the outbox is asked once for many. */
import type { DueDelivery } from '../domain/outbox.ts';

/** So many more are read than can be sent at once. */
export const READ_AHEAD_MAX = 192;

/** However few endpoints share these, one never has more of them: a long wait of its own would make them old. */
const OF_ENDPOINT_MAX = 16;

/** Meanwhile an endpoint may have been disabled, or a secret rotated: what was read so long ago is read again. */
const FRESH_MS_MAX = 100;

/** Holds them in the order in which they are due. */
export class ReadAhead {
  #deliveries: DueDelivery[] = [];
  #readAtMs = 0;
  #endpoints = READ_AHEAD_MAX;

  /** How many more of each endpoint are worth reading: it depends on how many endpoints there were the last time. */
  get perEndpoint(): number {
    return Math.min(OF_ENDPOINT_MAX, Math.ceil(READ_AHEAD_MAX / this.#endpoints));
  }

  /** Puts these in the place of those that are there. */
  fill(deliveries: readonly DueDelivery[], nowMs: number): void {
    this.#deliveries = [...deliveries];
    this.#readAtMs = nowMs;
    this.#endpoints = Math.max(1, new Set(deliveries.map(({ endpointId }) => endpointId)).size);
  }

  clear(): void {
    this.#deliveries = [];
  }

  get isEmpty(): boolean {
    return this.#deliveries.length === 0;
  }

  /** Takes out the first whose endpoint has room; undefined when there is none that is fresh. */
  next(nowMs: number, hasRoom: (endpointId: string) => boolean): DueDelivery | undefined {
    if (nowMs - this.#readAtMs > FRESH_MS_MAX) this.clear();
    const index = this.#deliveries.findIndex(({ endpointId }) => hasRoom(endpointId));
    return index < 0 ? undefined : this.#deliveries.splice(index, 1)[0];
  }
}
