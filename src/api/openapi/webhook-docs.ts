/** Documents the events as the webhooks of OpenAPI 3.1: what an endpoint receives, with which headers. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { z } from '@hono/zod-openapi';
import { SERVICE_EVENT_KINDS } from '../../domain/webhook/service-event.ts';
import { EVENT_BODIES } from '../schemas/event-body-schemas.ts';
import { jsonBody } from '../schemas/json-content.ts';

const DESCRIPTION = [
  'Sent by HTTP POST to every active endpoint that names the kind. An answer of 2xx within 10 seconds ends it; otherwise',
  'there are four more attempts, after 30 seconds, 2, 10 and 30 minutes. Events may come twice and in any order:',
  '`id` tells them apart, `createdAt` orders them.',
].join(' ');

const headers = z.object({
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

export function addWebhookDocs(registry: OpenAPIHono['openAPIRegistry']): void {
  for (const kind of SERVICE_EVENT_KINDS) {
    const { when, schema } = EVENT_BODIES[kind];
    registry.registerWebhook({
      method: 'post',
      path: kind,
      operationId: `on${kind.replaceAll(/(?:^|\.)(\w)/g, (_dot, letter) => letter.toUpperCase())}`,
      tags: ['Webhooks'],
      summary: when,
      description: DESCRIPTION,
      security: [],
      request: { headers, body: jsonBody(schema) },
      responses: {
        '2XX': { description: 'The event was received.' },
        default: { description: 'Anything else, a redirect too, is tried again.' },
      },
    });
  }
}
