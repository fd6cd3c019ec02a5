/** Schemas of webhook endpoints and deliveries in bodies and answers: the one source of validation, types and docs. */
import { z } from '@hono/zod-openapi';
import { isPlainText } from '../../domain/agent/agent-rules.ts';
import { CUSTOMER_EVENT_KINDS, SERVICE_EVENT_KINDS } from '../../domain/webhook/service-event.ts';
import {
  DESCRIPTION_CHARS_MAX,
  RESEND_SPAN_MS_MAX,
  RESENDS_MAX,
} from '../../domain/webhook/webhook-endpoint.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import { PLAIN_TEXT } from './agent-schemas.ts';
import { dayEnd, dayStart, instantSchema, PAGE_LIMIT, pagingFields } from './query-schemas.ts';

const timestamp = z.iso.datetime();

const url = z.string().min(1).max(WEBHOOK_URL_CHARS_MAX).openapi({
  // In any case, with a host, and without blanks.
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\s]\\S*$',
  description:
    'https, without user name and password. The address that its host resolves to is checked at every delivery.',
  example: 'https://example.com/webhooks',
});

const events = z
  .array(z.enum(CUSTOMER_EVENT_KINDS))
  .min(1)
  .refine((kinds) => new Set(kinds).size === kinds.length, 'kinds must differ')
  .openapi({
    uniqueItems: true,
    description: 'Event kinds to receive.',
    example: ['call.started', 'call.ended'],
  });

const description = z
  .string()
  .max(DESCRIPTION_CHARS_MAX)
  .refine(isPlainText, 'expected well-formed Unicode without NUL')
  .openapi({ pattern: PLAIN_TEXT });

const endpointStatus = z.enum(['active', 'disabled']);

/** Body of `POST /api/webhooks/endpoints`. */
export const createEndpointSchema = z
  .strictObject({ url, events, description: description.optional() })
  .openapi('CreateWebhookEndpoint');

/** Body of `PATCH /api/webhooks/endpoints/{endpointId}`. */
export const patchEndpointSchema = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    description: description.optional(),
    status: endpointStatus.optional(),
  })
  .openapi('PatchWebhookEndpoint', {
    minProperties: 1,
    description: 'Only the fields that are there change; one at least.',
  });

/** The newest attempt to deliver to an endpoint. */
export const lastAttemptSchema = z.object({
  timestamp,
  statusCode: z.int().nullable(),
  error: z.string().nullable(),
});

/** A webhook endpoint with its state. */
export const endpointSchema = z
  .object({
    id: z.string().openapi({ example: 'we_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    url: z.string(),
    events: z.array(z.enum(CUSTOMER_EVENT_KINDS)),
    description: z.string(),
    status: endpointStatus,
    disabledReason: z
      .string()
      .nullable()
      .openapi({ description: 'Why the server disabled it; null when it did not.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
    deliveryCounts: z
      .object({ pending: z.int(), succeeded: z.int(), failed: z.int() })
      .openapi({ description: 'Deliveries of the last 30 days.' }),
    lastAttempt: lastAttemptSchema
      .nullable()
      .openapi({ description: 'The newest attempt; null before the first.' }),
  })
  .openapi('WebhookEndpoint');

/** Answer to `POST /api/webhooks/endpoints`. */
export const createdEndpointSchema = endpointSchema
  .pick({ id: true, url: true, events: true, description: true, status: true, createdAt: true })
  .openapi('CreatedWebhookEndpoint');

/** Answer to a test event: the delivery to look at. */
export const testSentSchema = z
  .object({ deliveryId: z.string(), eventId: z.string() })
  .openapi('WebhookTestSent');

const deliveryStatus = z.enum(['pending', 'succeeded', 'failed']);

/** A delivery of one event to one endpoint. */
export const deliverySchema = z
  .object({
    id: z.string().openapi({ example: 'dlv_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    endpointId: z.string(),
    eventId: z.string().openapi({ description: 'The same in every attempt and after a resend.' }),
    event: z.enum(SERVICE_EVENT_KINDS),
    callId: z
      .string()
      .nullable()
      .openapi({ description: 'The call that the event is of; null for events of none.' }),
    status: deliveryStatus,
    attempts: z.int().openapi({ description: 'Made since it was sent or last resent.' }),
    nextAttemptAt: timestamp.nullable().openapi({ description: 'null when none will follow.' }),
    lastStatusCode: z
      .int()
      .nullable()
      .openapi({ description: 'Of the newest answer; null when there was none.' }),
    lastError: z
      .string()
      .nullable()
      .openapi({ description: 'Why the newest attempt failed; null when it did not.' }),
    createdAt: timestamp,
    finishedAt: timestamp.nullable().openapi({ description: 'null while pending.' }),
  })
  .openapi('WebhookDelivery');

const keptHeaders = z.array(z.object({ name: z.string(), value: z.string() })).nullable();

/** One attempt: request, answer or error, and duration. */
export const attemptSchema = z
  .object({
    attempt: z.int().openapi({ description: 'From 1; starts at 1 again after a resend.' }),
    timestamp,
    durationMs: z.number(),
    statusCode: z.int().nullable(),
    error: z.string().nullable(),
    responseText: z
      .string()
      .nullable()
      .openapi({ description: 'The beginning of the answer; null when there was none.' }),
    requestHeaders: keptHeaders.openapi({
      description: 'null when nothing was sent, and for attempts from before headers were kept.',
    }),
    responseHeaders: keptHeaders.openapi({
      description:
        'At most 40, of 500 characters each, without cookies. null when there was no answer, and for attempts from before headers were kept.',
    }),
  })
  .openapi('WebhookAttempt');

/** A delivery with its body and attempts. */
export const deliveryDetailSchema = deliverySchema
  .extend({
    requestBody: z.string().nullable().openapi({
      description:
        'What every attempt sends. null for keys without the scope `calls:read`, since events tell what was said, and where the event is gone.',
    }),
    attemptDetails: z
      .array(attemptSchema)
      .openapi({ description: 'Oldest first, the newest 50, those before a resend too.' }),
  })
  .openapi('WebhookDeliveryDetail');

/** Query of the list of deliveries. */
export const deliveryQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  status: deliveryStatus.optional(),
  endpointId: z.string().min(1).max(100).optional(),
  eventId: z.string().min(1).max(100).optional(),
});

const expected = {
  error: ({ input }: { readonly input?: unknown }) =>
    `${input === undefined ? 'required: ' : 'expected '}${SPAN_END}`,
};

const SPAN_END = 'a timestamp such as 2026-11-21T08:00:00.000Z, or a day such as 2026-11-21';

const instantDocs = { type: 'string', example: '2026-11-21T08:00:00.000Z' } as const;

/** Body of the request that sends deliveries again. */
export const resendSchema = z
  .strictObject({
    from: z.union([dayStart, instantSchema], expected).openapi({
      ...instantDocs,
      description: 'ISO 8601 timestamp, or a UTC day from its beginning. Inclusive.',
    }),
    to: z.union([dayEnd, instantSchema], expected).openapi({
      ...instantDocs,
      description: 'ISO 8601 timestamp, exclusive; or a UTC day, to its end.',
    }),
    endpointId: z.string().min(1).max(100).optional(),
    status: z
      .enum(['failed', 'succeeded'])
      .default('failed')
      .openapi({ description: 'Deliveries that are pending go out anyway.' }),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], message: 'expected a time after from' })
  .refine(({ from, to }) => to.getTime() - from.getTime() <= RESEND_SPAN_MS_MAX, {
    path: ['to'],
    message: 'expected a time at most 31 days after from',
  })
  .openapi('ResendWebhooks');

/** Answer to it: how many are due again. */
export const resentSchema = z
  .object({
    resent: z.int().openapi({
      description: `How many deliveries go out again; ${RESENDS_MAX} means that there may be more.`,
    }),
  })
  .openapi('ResentWebhooks');
