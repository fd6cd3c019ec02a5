/** The contract between the store and whoever delivers webhooks: what is due, and what came of it. */
import type { Bell } from '../lib/bell.ts';
import type { DeliveryAttempt } from './webhook-delivery.ts';

/** A delivery whose next attempt is due. */
export interface DueDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly url: string;
  /** The bytes to sign and send, as text. */
  readonly body: string;
  /** Number of the attempt to make now, 1-based. */
  readonly attempt: number;
  /** The secret to sign with. */
  readonly secret: string;
  /** The secret before a rotation of the last 24 h; null when there is none. */
  readonly previousSecret: string | null;
}

/** What came of one attempt. */
export interface AttemptResult {
  readonly deliveryId: string;
  readonly attempt: DeliveryAttempt;
  readonly isSuccess: boolean;
  /** When to try again; null after the last attempt, and after a success. */
  readonly nextAttemptAt: Date | null;
}

export interface OutboxCounts {
  /** Deliveries that are not over. */
  readonly pending: number;
  /** When the oldest of them was made; null when there is none. */
  readonly oldestAt: Date | null;
}

/** What the deliverer reads and writes. A process may die inside or between its methods, and nothing is lost. */
export interface Outbox {
  /** Rings after events were written or deliveries made due. */
  readonly bell: Bell;

  /**
   * Makes a delivery for each active endpoint that listens to each new event, in the events' order.
   *
   * @param options.limit events at most.
   * @returns how many events were looked at; fewer than the limit means that no more are there.
   */
  fanOut(options: { readonly limit: number; readonly now: Date }): number;

  /**
   * Deliveries that are due, earliest first, at most `perEndpoint` of each endpoint. The outbox does not remember what
   * it gave out: the caller leaves out what is on its way by `except`.
   */
  due(options: {
    readonly now: Date;
    readonly limit: number;
    readonly perEndpoint: number;
    /** Endpoints that have no room for more. */
    readonly exceptEndpoints: readonly string[];
    /** Deliveries on their way. */
    readonly except: ReadonlySet<string>;
  }): readonly DueDelivery[];

  /** When the next attempt falls due; null when none is waiting. */
  nextDueAt(): Date | null;

  /**
   * Writes what came of attempts, all or none, and disables endpoints that have failed for too long.
   *
   * @returns ids of endpoints that were disabled by it.
   */
  record(results: readonly AttemptResult[], now: Date): readonly string[];

  counts(): OutboxCounts;
}
