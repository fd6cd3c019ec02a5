/** Webhook endpoints and deliveries as customers see them; pure */
import type { z } from '@hono/zod-openapi';
import type { DeliveryAttempt, WebhookDelivery } from '../../domain/webhook/webhook-delivery.ts';
import type { WebhookEndpoint } from '../../domain/webhook/webhook-endpoint.ts';
import type {
  createdEndpointSchema,
  deliveryDetailSchema,
  deliverySchema,
  endpointSchema,
} from '../schemas/webhook-schemas.ts';

export function serializeCreatedEndpoint(
  endpoint: WebhookEndpoint,
): z.infer<typeof createdEndpointSchema> {
  const { id, url, events, description, status, createdAt } = endpoint;
  return {
    id,
    url,
    events: [...events],
    description,
    status,
    createdAt: createdAt.toISOString(),
  };
}

export function serializeEndpoint(endpoint: WebhookEndpoint): z.infer<typeof endpointSchema> {
  const { id, url, events, description, status, disabledReason, createdAt, updatedAt } = endpoint;
  return {
    id,
    url,
    events: [...events],
    description,
    status,
    disabledReason,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

export function serializeDelivery(delivery: WebhookDelivery): z.infer<typeof deliverySchema> {
  return {
    id: delivery.id,
    endpointId: delivery.endpointId,
    eventId: delivery.eventId,
    event: delivery.eventKind,
    status: delivery.status,
    attempts: delivery.attempts,
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
    lastStatusCode: delivery.lastStatusCode,
    lastError: delivery.lastError,
    createdAt: delivery.createdAt.toISOString(),
    finishedAt: delivery.finishedAt?.toISOString() ?? null,
  };
}

export function serializeDeliveryDetail(
  delivery: WebhookDelivery,
  attempts: readonly DeliveryAttempt[],
): z.infer<typeof deliveryDetailSchema> {
  const attemptDetails = attempts.map(({ at, ...attempt }) => ({
    ...attempt,
    timestamp: at.toISOString(),
  }));
  return { ...serializeDelivery(delivery), attemptDetails };
}
