/** `/api/webhooks/deliveries` and `/api/webhooks/resend`: shows what was sent where, and sends it again. */

import { mayUse } from '../../domain/account/api-key.ts';
import { given } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { WebhookDelivery } from '../../domain/webhook/webhook-delivery.ts';
import { RESENDS_MAX } from '../../domain/webhook/webhook-endpoint.ts';
import { type ApiApp, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import {
  attemptSchema,
  deliveryDetailSchema,
  deliveryPageSchema,
  deliveryPathSchema,
  deliveryQuerySchema,
  deliverySchema,
  resendSchema,
  resentSchema,
} from '../schemas/webhook-schemas.ts';
import { viewOf } from '../serializers/view-of.ts';

const reads = { tag: 'Webhooks', scope: 'webhooks:read' } as const;

const writes = { tag: 'Webhooks', scope: 'webhooks:write' } as const;

const listRoute = describeRoute({
  ...reads,
  operationId: 'listWebhookDeliveries',
  method: 'get',
  path: '/api/webhooks/deliveries',
  summary: 'Lists deliveries, newest first',
  description: 'Kept for 30 days, as their events.',
  request: { query: deliveryQuerySchema },
  responses: { 200: jsonResponse('A page of deliveries.', deliveryPageSchema) },
});

const getRoute = describeRoute({
  ...reads,
  operationId: 'getWebhookDelivery',
  method: 'get',
  path: '/api/webhooks/deliveries/{deliveryId}',
  summary: 'Shows a delivery with its attempts',
  request: { params: deliveryPathSchema },
  responses: {
    200: jsonResponse('The delivery and what each attempt met.', deliveryDetailSchema),
  },
});

const resendRoute = describeRoute({
  ...writes,
  operationId: 'resendWebhookDelivery',
  method: 'post',
  path: '/api/webhooks/deliveries/{deliveryId}/resend',
  summary: 'Sends a delivery again',
  description:
    'From its first attempt, with the same event id and body, whether it failed or succeeded. One that waits for its next attempt is sent now. While it is being sent, or its endpoint is disabled: 409.',
  request: { params: deliveryPathSchema },
  responses: { 202: jsonResponse('The delivery is on its way.', deliverySchema) },
});

const rangeRoute = describeRoute({
  ...writes,
  operationId: 'resendWebhooks',
  method: 'post',
  path: '/api/webhooks/resend',
  summary: 'Sends the deliveries of a span of time again',
  description: `Chosen by when their events were created, ${RESENDS_MAX} at most, oldest first; deliveries of disabled endpoints are left out. An endpointId that is disabled is 409. Events that an endpoint was never sent are in the ledger, \`GET /api/events\`.`,
  request: { body: jsonBody(resendSchema) },
  responses: { 202: jsonResponse('The deliveries are on their way.', resentSchema) },
  errors: [404],
});

export function addDeliveryRoutes(api: ApiApp, deps: ApiDeps): void {
  addDeliveryReads(api, deps);
  addResends(api, deps);
}

function addDeliveryReads(api: ApiApp, { deliveries }: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    const { limit, offset, ...filters } = context.req.valid('query');
    const page = await deliveries.list(scopeOf(context), { ...given(filters), limit, offset });
    const data = page.deliveries.map(deliveryView);
    return context.json({ data, total: page.total, limit, offset }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { deliveryId } = context.req.valid('param');
    const delivery = existing(await deliveries.find(scopeOf(context), deliveryId), 'delivery');
    const attempts = await deliveries.attempts(delivery.id);
    const attemptDetails = attempts.map((attempt) =>
      viewOf(attemptSchema, { ...attempt, timestamp: attempt.at }),
    );
    const maySee = mayUse(callerOf(context).apiKey, 'calls:read');
    const requestBody = (maySee ? await deliveries.body(delivery) : undefined) ?? null;
    return context.json({ ...deliveryView(delivery), requestBody, attemptDetails }, 200);
  });
}

function addResends(api: ApiApp, deps: ApiDeps): void {
  const { clock } = deps;

  api.openapi(resendRoute, async (context) => {
    const { deliveryId } = context.req.valid('param');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: (commit) =>
        commit(async (stores) => {
          const { id } = existing(await stores.deliveries.find(scope, deliveryId), 'delivery');
          const resent = await stores.deliveries.resend(scope, id, clock.now());
          return { status: 202, body: deliveryView(resent) };
        }),
    });
  });

  api.openapi(rangeRoute, async (context) => {
    const { from, to: before, endpointId, status } = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: (commit) =>
        commit(async ({ deliveries, webhookEndpoints }) => {
          if (endpointId !== undefined) {
            const endpoint = await webhookEndpoints.find(scope, endpointId);
            refuseDisabled(existing(endpoint, 'webhook endpoint'));
          }
          const range = { from, before, status, ...given({ endpointId }) };
          const resent = await deliveries.resendRange(scope, range, clock.now());
          return { status: 202, body: { resent } };
        }),
    });
  });
}

function refuseDisabled({ status }: { readonly status: string }): void {
  if (status === 'disabled') {
    throw new ServiceError('CONFLICT', 'Cannot resend to the webhook endpoint: it is disabled');
  }
}

function deliveryView(delivery: WebhookDelivery) {
  return viewOf(deliverySchema, { ...delivery, event: delivery.eventKind });
}
