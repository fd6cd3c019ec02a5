/** Contract between the store and the webhook deliverer: due deliveries and the results of their attempts. */

import type { Notifier } from '../../lib/clock.ts';
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
  /** Signs both headers. */
  readonly secret: string;
  /** Sign the Standard Webhooks header as well: the prepared secret, and the previous one for 24 h. */
  readonly otherSecrets: readonly string[];
}

/** An endpoint with pending deliveries. */
export interface WaitingEndpoint {
  readonly endpointId: string;
  /** When the earliest pending delivery falls due, deliveries in flight included. */
  readonly dueAt: Date;
}

/** How one attempt ended. */
export interface AttemptResult {
  readonly deliveryId: string;
  readonly attempt: DeliveryAttempt;
  readonly isSuccess: boolean;
  /** When to try again; null after the last attempt, and after a success. */
  readonly nextAttemptAt: Date | null;
}

/** Size and age of the backlog. */
export interface OutboxCounts {
  /** Deliveries that are not over. */
  readonly pending: number;
  /** When the oldest of them was made; null when there is none. */
  readonly oldestAt: Date | null;
}

/** The outbox, as the deliverer uses it. Every method is one transaction: a process may die between any two of them. */
export interface Outbox {
  /** Notifies after events were written or deliveries made due. */
  readonly notifier: Notifier;

  /**
   * Makes a delivery for each active endpoint that listens to each new event, in the events' order. Also fails pending
   * deliveries of endpoints that are disabled or deleted, 500 a call.
   *
   * @param options.limit Events at most.
   * @returns how many events were looked at; the limit means that there may be more.
   */
  fanOut(options: { readonly limit: number; readonly now: Date }): Promise<number>;

  /** Every endpoint with pending deliveries, earliest due first. */
  waiting(): Promise<readonly WaitingEndpoint[]>;

  /**
   * Due deliveries of one active endpoint, earliest first. The outbox does not track deliveries in flight.
   *
   * @param options.except Deliveries in flight, by id.
   */
  due(
    endpointId: string,
    options: {
      readonly now: Date;
      readonly limit: number;
      readonly except: readonly string[];
    },
  ): Promise<readonly DueDelivery[]>;

  /**
   * Saves the results of attempts, all or none, and disables endpoints that have failed for too long.
   *
   * @returns ids of endpoints that were disabled.
   */
  record(results: readonly AttemptResult[], now: Date): Promise<readonly string[]>;

  /** Makes pending deliveries due now that fall due after `latest`: a clock that has been set back since said when. */
  hurry(options: { readonly now: Date; readonly latest: Date }): Promise<void>;

  counts(): Promise<OutboxCounts>;
}
