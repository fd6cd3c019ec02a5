/** One event on its way to one endpoint: its attempts, and the contracts of the stores that keep them. */
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';
import type { ServiceEventKind } from './service-event.ts';

/**
 * Wait before each attempt, in seconds. Five attempts in all; the first goes out at once.
 *
 * @see the interface specification, "Delivery and retry rules"
 */
export const ATTEMPT_WAITS_SECONDS: readonly number[] = [0, 30, 120, 600, 1800];

/** Wait before attempt number `attempt` (1-based), in milliseconds; null when there is no such attempt. */
export function waitBeforeAttemptMs(
  attempt: number,
  waitsSeconds: readonly number[],
): number | null {
  const waitSeconds = waitsSeconds[attempt - 1];
  return waitSeconds === undefined ? null : waitSeconds * 1000;
}

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

/** What a customer sees of one event's way to one endpoint. */
export interface WebhookDelivery {
  /** `dlv_…`. */
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventKind: ServiceEventKind;
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

/** One attempt, as kept for whoever looks for the reason. */
export interface DeliveryAttempt {
  /** 1-based, counted anew after a resend. */
  readonly attempt: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  /** The first 2 kB of the answer, as text; null when there was none. */
  readonly responseText: string | null;
}

export interface DeliveryQuery {
  readonly status?: DeliveryStatus;
  readonly endpointId?: string;
  readonly eventId?: string;
  readonly limit: number;
  readonly offset: number;
}

export interface DeliveryPage {
  readonly deliveries: readonly WebhookDelivery[];
  readonly total: number;
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
  list(scope: Scope, query: DeliveryQuery): DeliveryPage;

  find(scope: Scope, deliveryId: string): WebhookDelivery | undefined;

  /** Oldest first, at most the newest 50. */
  attempts(deliveryId: string): readonly DeliveryAttempt[];

  /**
   * Sends it again from its first attempt: same event id, same body.
   *
   * @throws {ServiceError} CONFLICT while it is pending, or its endpoint is disabled.
   */
  resend(scope: Scope, deliveryId: string, now: Date): WebhookDelivery;

  /** Resends what the range holds, `RESENDS_MAX` at most. @returns how many. */
  resendRange(scope: Scope, range: ResendRange, now: Date): number;

  /** Sends an event to one endpoint, whichever kinds it listens to. */
  sendTo(endpointId: string, event: { readonly id: string }, deliveryId: string, now: Date): void;
}
