/** Webhook deliveries, the waits between their attempts, and the outbox that keeps them until they end. */

import type { Notifier } from '../../lib/clock.ts';
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';
import type { Page } from '../ids.ts';
import type { ServiceEventKind } from './service-event.ts';

/** `failed` means that no attempt will follow. */
export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

/** The delivery of one event to one endpoint, as customers see it. */
export interface WebhookDelivery {
  /** `dlv_…`. */
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventKind: ServiceEventKind;
  /** The call that the event is of; null for events of none. */
  readonly callId: string | null;
  readonly status: DeliveryStatus;
  /** Attempts made since it was sent or last resent. */
  readonly attempts: number;
  /** Null when no attempt will follow. */
  readonly nextAttemptAt: Date | null;
  /** HTTP status of the newest answer; null when there was none. */
  readonly lastStatusCode: number | null;
  /** Why the newest attempt failed, in plain English; null when it did not. */
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** One header of a request or an answer. */
export interface KeptHeader {
  readonly name: string;
  readonly value: string;
}

/** One attempt with its result. */
export interface DeliveryAttempt {
  /** 1-based; starts again at 1 after a resend. */
  readonly attempt: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  /** The first 2 kB of the answer, as text; null when there was none. */
  readonly responseText: string | null;
  /** Null when no request was sent, and for attempts stored without headers. */
  readonly requestHeaders: readonly KeptHeader[] | null;
  /** Null when there was no answer, and for attempts from before headers were kept. */
  readonly responseHeaders: readonly KeptHeader[] | null;
}

/** A page of deliveries; filters left out match every delivery. */
export interface DeliveryQuery {
  readonly status?: DeliveryStatus;
  readonly endpointId?: string;
  readonly eventId?: string;
  readonly limit: number;
  readonly offset: number;
}

/** Which deliveries a bulk resend takes up. */
export interface ResendRange {
  /** Inclusive, by the event's creation. */
  readonly from: Date;
  /** Exclusive. */
  readonly before: Date;
  readonly endpointId?: string;
  /** `failed` unless given. */
  readonly status?: DeliveryStatus;
}

/** Deliveries as customers see them. */
export interface DeliveryStore {
  /** Newest first, ties by id. */
  list(scope: Scope, query: DeliveryQuery): Promise<Page<WebhookDelivery>>;

  find(scope: Scope, deliveryId: string): Promise<WebhookDelivery | undefined>;

  /** The body that every attempt sends; undefined where retention has deleted the event. */
  body(delivery: Pick<WebhookDelivery, 'eventId'>): Promise<string | undefined>;

  /** Oldest first, at most the newest 50. */
  attempts(deliveryId: string): Promise<readonly DeliveryAttempt[]>;

  /**
   * Sends it again from its first attempt: same event id, same body. One that waits for its next attempt is sent now.
   *
   * @throws {ServiceError} CONFLICT while an attempt is due or in progress, or its endpoint is disabled.
   */
  resend(scope: Scope, deliveryId: string, now: Date): Promise<WebhookDelivery>;

  /** Resends the deliveries of the range, `RESENDS_MAX` at most. @returns how many. */
  resendRange(scope: Scope, range: ResendRange, now: Date): Promise<number>;

  /** Sends an event to one endpoint, also when the endpoint does not listen to its kind. */
  sendTo(
    endpointId: string,
    event: { readonly id: string },
    deliveryId: string,
    now: Date,
  ): Promise<void>;
}

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

/**
 * Wait before each attempt, in seconds: five attempts, the first at once. `WEBHOOK_BACKOFF_SECONDS` replaces it.
 *
 * @see the interface specification, "Delivery and retry rules"
 */
export const RETRY_WAITS_SECONDS: readonly number[] = [0, 30, 120, 600, 1800];

/** Waits are lengthened by up to this share, so that deliveries that failed together do not come back together. */
const JITTER_SHARE = 0.05;

/** The longest time between two attempts, in milliseconds. */
export function longestWaitMs(waitsSeconds: readonly number[]): number {
  return Math.max(0, ...waitsSeconds) * 1000 * (1 + JITTER_SHARE);
}

/**
 * The instant of the attempt that follows attempt `attempt` (1-based); null after the last.
 *
 * @param options.endedAt End of attempt `attempt`.
 * @param options.waitsSeconds Wait before each attempt; as many attempts as waits.
 * @param options.jitter From 0 to 1; a wait is never shorter than the schedule says.
 */
export function nextAttemptAt(options: {
  readonly attempt: number;
  readonly endedAt: Date;
  readonly waitsSeconds: readonly number[];
  readonly jitter: number;
}): Date | null {
  const waitSeconds = options.waitsSeconds[options.attempt];
  if (waitSeconds === undefined) return null;
  const waitMs = waitSeconds * 1000 * (1 + JITTER_SHARE * options.jitter);
  return new Date(options.endedAt.getTime() + waitMs);
}
