/** Turns rows of deliveries and their attempts into what customers see of them; pure */
import type { Environment } from '../../domain/account/account.ts';
import type { ServiceEventKind } from '../../domain/webhook/service-event.ts';
import type {
  DeliveryAttempt,
  DeliveryStatus,
  WebhookDelivery,
} from '../../domain/webhook/webhook-delivery.ts';
import { dateOf } from '../sqlite/instant.ts';
import type { WebhookAttemptRow, WebhookDeliveryRow } from './webhook-rows.ts';

export const DELIVERY_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'endpoint_id',
  'event_id',
  'event_kind',
  'event_at',
  'status',
  'attempts',
  'next_attempt_at',
  'last_status_code',
  'last_error',
  'created_at',
  'finished_at',
] as const satisfies readonly (keyof WebhookDeliveryRow)[];

export const ATTEMPT_COLUMNS = [
  'delivery_id',
  'attempt',
  'at',
  'duration_ms',
  'status_code',
  'error',
  'response_text',
] as const satisfies readonly (keyof WebhookAttemptRow)[];

export function deliveryOf(row: WebhookDeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    accountId: row.account_id,
    environment: row.environment as Environment,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventKind: row.event_kind as ServiceEventKind,
    status: row.status as DeliveryStatus,
    attempts: row.attempts,
    nextAttemptAt: dateOf(row.next_attempt_at),
    lastStatusCode: row.last_status_code,
    lastError: row.last_error,
    createdAt: new Date(row.created_at),
    finishedAt: dateOf(row.finished_at),
  };
}

export function attemptOf(row: WebhookAttemptRow): DeliveryAttempt {
  return {
    attempt: row.attempt,
    at: new Date(row.at),
    durationMs: row.duration_ms,
    statusCode: row.status_code,
    error: row.error,
    responseText: row.response_text,
  };
}
