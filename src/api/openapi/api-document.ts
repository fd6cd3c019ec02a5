/** The interface's own description, made from the schemas that validate it: what all operations share, and the webhooks. */
import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { compress } from 'hono/compress';
import { SERVICE_EVENT_KINDS } from '../../domain/webhook/service-event.ts';
import type { ApiApp, ApiDeps } from '../api-env.ts';
import { API_VERSION } from '../http/request-identity.ts';
import { errorCodeTable } from '../schemas/error-schema.ts';
import { EVENT_BODIES } from '../schemas/event-body-schemas.ts';
import { jsonBody } from '../schemas/json-content.ts';
import { ANSWER_HEADERS, IDEMPOTENCY_KEY, IF_MATCH, TAGS } from './common-components.ts';

const DESCRIPTION = [
  'Voice agents that answer and place telephone calls.',
  'Every request carries `Authorization: Bearer <API_KEY>`. A `svc_live_` key makes real calls; a `svc_test_` key sees and makes only test resources, and its calls are simulated. A key has scopes, such as `agents:read`; without the one that an operation needs the answer is 403.',
  'Errors are `{"error": {code, message, status, requestId}}`, with `details` for each wrong field on 400. Unknown fields and unknown query parameters are refused by name. What belongs to another account or environment is answered like what does not exist.',
  'Lists are `{data, total, limit, offset}`. Timestamps are ISO 8601 in UTC with milliseconds.',
  `Every answer has \`X-Request-Id\` and \`X-API-Version\` (now ${API_VERSION}). Requests are counted in fixed hours, for each account and environment: \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\`, and \`X-RateLimit-Reset\` in Unix seconds.`,
  '## Error codes',
  errorCodeTable(),
].join('\n\n');

/** Serves the document, made at the first request, and registers what all operations share. Call it before routes are added. */
export function addDocument(api: ApiApp, deps: Pick<ApiDeps, 'version' | 'publicUrl'>): void {
  const { openAPIRegistry: registry } = api;
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `svc_live_…` or `svc_test_…`.',
  });
  registry.registerComponent('parameters', 'IdempotencyKey', { ...IDEMPOTENCY_KEY });
  registry.registerComponent('parameters', 'IfMatch', { ...IF_MATCH });
  for (const [name, docs] of Object.entries(ANSWER_HEADERS)) {
    registry.registerComponent('headers', name, docs);
  }
  addWebhookDocs(registry);
  let text: string | undefined;
  // The longest document that the server sends.
  api.get('/api/openapi.json', compress(), (context) => {
    text ??= JSON.stringify(
      api.getOpenAPI31Document({
        openapi: '3.1.0',
        info: { title: 'Offhook', version: deps.version, description: DESCRIPTION },
        servers: [{ url: deps.publicUrl }],
        tags: [...TAGS],
      }),
    );
    return context.body(text, 200, { 'Content-Type': 'application/json' });
  });
}

const WEBHOOKS_DESCRIPTION = [
  'Sent by HTTP POST to every active endpoint that names the kind. An answer of 2xx within 10 seconds ends it; otherwise',
  'there are four more attempts, after 30 seconds, 2, 10 and 30 minutes. Events may come twice and in any order:',
  '`id` tells them apart, `createdAt` orders them.',
].join(' ');

const WEBHOOK_HEADERS = z.object({
  'X-Service-Signature': z.string().openapi({
    description:
      'HMAC-SHA256, in lowercase hexadecimal, of `X-Service-Timestamp`, a dot and the raw body; the key is the current signing secret.',
  }),
  'X-Service-Timestamp': z.string().openapi({
    description: 'Unix seconds, new for every attempt. Refuse one that is over 5 minutes old.',
  }),
  'webhook-id': z.string().openapi({ description: 'The event id (Standard Webhooks).' }),
  'webhook-timestamp': z.string().openapi({ description: 'As X-Service-Timestamp.' }),
  'webhook-signature': z.string().openapi({
    description:
      'Signatures by Standard Webhooks, separated by a blank: one for each secret, while one is prepared and for 24 h after its activation.',
  }),
});

/** Documents the events as the webhooks of OpenAPI 3.1: what an endpoint receives, with which headers. */
function addWebhookDocs(registry: OpenAPIHono['openAPIRegistry']): void {
  for (const kind of SERVICE_EVENT_KINDS) {
    const { when, schema } = EVENT_BODIES[kind];
    registry.registerWebhook({
      method: 'post',
      path: kind,
      operationId: `on${kind.replaceAll(/(?:^|\.)(\w)/g, (_dot, letter) => letter.toUpperCase())}`,
      tags: ['Webhooks'],
      summary: when,
      description: WEBHOOKS_DESCRIPTION,
      security: [],
      request: { headers: WEBHOOK_HEADERS, body: jsonBody(schema) },
      responses: {
        '2XX': { description: 'The event was received.' },
        default: { description: 'Anything else, a redirect too, is tried again.' },
      },
    });
  }
}
