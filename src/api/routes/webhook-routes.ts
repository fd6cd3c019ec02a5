/** `/api/webhooks/endpoints` and `/api/webhooks/deliveries`: registers, changes and tries endpoints; lists deliveries and sends them again. */

import { mayUse } from '../../domain/account/api-key.ts';
import { given } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { WebhookDelivery } from '../../domain/webhook/webhook-delivery.ts';
import {
  createEndpoint,
  patchEndpoint,
  RESENDS_MAX,
  testEvent,
  WEBHOOK_ENDPOINTS_MAX,
  type WebhookEndpoint,
  type WebhookEndpointStore,
} from '../../domain/webhook/webhook-endpoint.ts';
import { type ApiApp, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { jsonBody, jsonResponse, pageResponse, routesOf } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { pageQuerySchema } from '../schemas/query-schemas.ts';
import {
  attemptSchema,
  createdEndpointSchema,
  createEndpointSchema,
  deliveryDetailSchema,
  deliveryQuerySchema,
  deliverySchema,
  endpointSchema,
  lastAttemptSchema,
  patchEndpointSchema,
  resendSchema,
  resentSchema,
  testSentSchema,
} from '../schemas/webhook-schemas.ts';
import { viewOf } from '../serializers.ts';

const readRoute = routesOf({ tag: 'Webhooks', scope: 'webhooks:read' });

const writeRoute = routesOf({ tag: 'Webhooks', scope: 'webhooks:write' });

const listRoute = readRoute('get', '/api/webhooks/endpoints', {
  operationId: 'listWebhookEndpoints',
  summary: 'Lists webhook endpoints, newest first',
  request: { query: pageQuerySchema },
  responses: { 200: pageResponse('A page of endpoints.', 'WebhookEndpointPage', endpointSchema) },
});

const newRoute = writeRoute('post', '/api/webhooks/endpoints', {
  operationId: 'createWebhookEndpoint',
  summary: 'Registers a webhook endpoint',
  description: `At most ${WEBHOOK_ENDPOINTS_MAX} an environment (409). It is sent the events that happen from now on. A url that is no https URL is 400; one whose host is a private, loopback or special address is 422.`,
  request: { body: jsonBody(createEndpointSchema) },
  responses: {
    201: jsonResponse('The endpoint was registered and is active.', createdEndpointSchema),
  },
});

const getRoute = readRoute('get', '/api/webhooks/endpoints/{endpointId}', {
  operationId: 'getWebhookEndpoint',
  summary: 'Shows a webhook endpoint',
  responses: { 200: jsonResponse('Every field.', endpointSchema) },
});

const patchRoute = writeRoute('patch', '/api/webhooks/endpoints/{endpointId}', {
  operationId: 'updateWebhookEndpoint',
  summary: 'Changes the fields that the body has',
  description:
    'The status that it already has changes nothing. What waits for an endpoint that is disabled fails, and can be resent later. Made active, an endpoint begins without failures; what happened meanwhile is in the ledger, `GET /api/events`.',
  request: { body: jsonBody(patchEndpointSchema) },
  responses: { 200: jsonResponse('The endpoint was changed.', endpointSchema) },
  errors: [422],
});

const deleteRoute = writeRoute('delete', '/api/webhooks/endpoints/{endpointId}', {
  operationId: 'deleteWebhookEndpoint',
  summary: 'Deletes a webhook endpoint with its deliveries',
  description: 'An attempt that is on its way is not called back.',
  responses: { 204: { description: 'The endpoint is gone.' } },
});

const testRoute = writeRoute('post', '/api/webhooks/endpoints/{endpointId}/test', {
  operationId: 'testWebhookEndpoint',
  summary: 'Sends a test event to a webhook endpoint',
  description:
    'An event of the kind `webhook.test`, whichever kinds the endpoint listens to; its data is `{endpointId}`. A disabled endpoint is 409.',
  responses: { 202: jsonResponse('The event is on its way.', testSentSchema) },
});

/** Adds `/api/webhooks/endpoints`, `/api/webhooks/deliveries` and `/api/webhooks/resend`. */
export function addWebhookRoutes(api: ApiApp, deps: ApiDeps): void {
  addEndpointReads(api, deps);
  addEndpointWrites(api, deps);
  addEndpointTest(api, deps);
  addDeliveryReads(api, deps);
  addResends(api, deps);
}

function addEndpointReads(api: ApiApp, { webhookEndpoints }: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const page = await webhookEndpoints.list(scopeOf(context), { limit, offset });
    const data = await Promise.all(
      page.items.map((endpoint) => endpointView(webhookEndpoints, endpoint)),
    );
    return context.json({ data, total: page.total, limit, offset }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { endpointId } = context.req.valid('param');
    const found = await webhookEndpoints.find(scopeOf(context), endpointId);
    const endpoint = existing(found, 'webhook endpoint');
    return context.json(await endpointView(webhookEndpoints, endpoint), 200);
  });
}

function addEndpointWrites(api: ApiApp, deps: ApiDeps): void {
  const { webhookEndpoints, clock, newId, webhookUrlRules: urlRules } = deps;

  api.openapi(newRoute, async (context) => {
    const draft = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const facts = { id: newId('we'), scope, now: clock.now(), urlRules };
        const endpoint = createEndpoint(draft, facts);
        return commit(async (stores) => {
          await stores.webhookEndpoints.insert(endpoint);
          return { status: 201, body: viewOf(createdEndpointSchema, endpoint) };
        });
      },
    });
  });

  api.openapi(patchRoute, async (context) => {
    const { endpointId } = context.req.valid('param');
    const facts = { now: clock.now(), urlRules };
    const changed = await deps.transaction(async (stores) => {
      const found = await stores.webhookEndpoints.find(scopeOf(context), endpointId);
      const patched = patchEndpoint(
        existing(found, 'webhook endpoint'),
        context.req.valid('json'),
        facts,
      );
      await stores.webhookEndpoints.update(patched);
      return patched;
    });
    return context.json(await endpointView(webhookEndpoints, changed), 200);
  });

  api.openapi(deleteRoute, async (context) => {
    const { endpointId } = context.req.valid('param');
    const scope = scopeOf(context);
    existing(await webhookEndpoints.find(scope, endpointId), 'webhook endpoint');
    await webhookEndpoints.delete(scope, endpointId, clock.now());
    return context.body(null, 204);
  });
}

function addEndpointTest(api: ApiApp, deps: ApiDeps): void {
  const { clock, newId } = deps;

  api.openapi(testRoute, async (context) => {
    const { endpointId } = context.req.valid('param');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: (commit) =>
        commit(async ({ webhookEndpoints, events, deliveries }) => {
          const now = clock.now();
          const endpoint = existing(
            await webhookEndpoints.find(scope, endpointId),
            'webhook endpoint',
          );
          const event = testEvent(endpoint, { id: newId('evt'), now });
          const deliveryId = newId('dlv');
          await events.insertQuiet(event);
          await deliveries.sendTo(endpoint.id, event, deliveryId, now);
          return { status: 202, body: { deliveryId, eventId: event.id } };
        }),
    });
  });
}

/** An endpoint with how it has done. */
async function endpointView(
  store: Pick<WebhookEndpointStore, 'health'>,
  endpoint: WebhookEndpoint,
) {
  const { deliveryCounts, lastAttempt } = await store.health(endpoint.id);
  return viewOf(endpointSchema, {
    ...endpoint,
    deliveryCounts,
    lastAttempt:
      lastAttempt && viewOf(lastAttemptSchema, { ...lastAttempt, timestamp: lastAttempt.at }),
  });
}

const listDeliveriesRoute = readRoute('get', '/api/webhooks/deliveries', {
  operationId: 'listWebhookDeliveries',
  summary: 'Lists deliveries, newest first',
  description: 'Kept for 30 days, as their events.',
  request: { query: deliveryQuerySchema },
  responses: { 200: pageResponse('A page of deliveries.', 'WebhookDeliveryPage', deliverySchema) },
});

const getDeliveryRoute = readRoute('get', '/api/webhooks/deliveries/{deliveryId}', {
  operationId: 'getWebhookDelivery',
  summary: 'Shows a delivery with its attempts',
  responses: {
    200: jsonResponse('The delivery and what each attempt met.', deliveryDetailSchema),
  },
});

const resendRoute = writeRoute('post', '/api/webhooks/deliveries/{deliveryId}/resend', {
  operationId: 'resendWebhookDelivery',
  summary: 'Sends a delivery again',
  description:
    'From its first attempt, with the same event id and body, whether it failed or succeeded. One that waits for its next attempt is sent now. While it is being sent, or its endpoint is disabled: 409.',
  responses: { 202: jsonResponse('The delivery is on its way.', deliverySchema) },
});

const rangeRoute = writeRoute('post', '/api/webhooks/resend', {
  operationId: 'resendWebhooks',
  summary: 'Sends the deliveries of a span of time again',
  description: `Chosen by when their events were created, ${RESENDS_MAX} at most, oldest first; deliveries of disabled endpoints are left out. An endpointId that is disabled is 409. Events that an endpoint was never sent are in the ledger, \`GET /api/events\`.`,
  request: { body: jsonBody(resendSchema) },
  responses: { 202: jsonResponse('The deliveries are on their way.', resentSchema) },
  errors: [404],
});

function addDeliveryReads(api: ApiApp, { deliveries }: ApiDeps): void {
  api.openapi(listDeliveriesRoute, async (context) => {
    const { limit, offset, ...filters } = context.req.valid('query');
    const page = await deliveries.list(scopeOf(context), { ...given(filters), limit, offset });
    const data = page.items.map(deliveryView);
    return context.json({ data, total: page.total, limit, offset }, 200);
  });

  api.openapi(getDeliveryRoute, async (context) => {
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
