/** `/api/events`: the ledger of events, and the schemas of their bodies, which webhook endpoints receive too. */

import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Scope } from '../../domain/agent/agent.ts';
import { given } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import {
  CUSTOMER_EVENT_KINDS,
  type LedgerPage,
  type ServiceEvent,
  type ServiceEventKind,
} from '../../domain/webhook/service-event.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { describeRoute, jsonResponse } from '../http/describe-route.ts';
import {
  answeredAtSchema,
  answeredBySchema,
  directionSchema,
  durationSchema,
  endReasonSchema,
  failureReasonSchema,
  sipStatusSchema,
  startedAtSchema,
  transcriptEntrySchema,
} from '../schemas/call-schemas.ts';
import { dayDocs, dayEnd, dayStart, PAGE_LIMIT, pagingFields } from '../schemas/query-schemas.ts';

const timestamp = z.iso.datetime();

const ofCall = {
  callId: z.string().openapi({ example: 'call_0VbZOZK8iLGcXSKvcmQMdaX5' }),
  agentId: z.string(),
};

const parties = { ...ofCall, direction: directionSchema, from: z.string(), to: z.string() };

const carrierCallSid = z.string().openapi({
  description: "The carrier's identifier of the call; empty when the call never reached a carrier.",
});

const callStarted = z.object({ ...parties, startedAt: startedAtSchema, carrierCallSid });

const callEnded = z.object({
  ...parties,
  startedAt: startedAtSchema,
  endedAt: timestamp,
  durationSeconds: durationSchema,
  endReason: endReasonSchema,
  carrierCallSid,
  answeredAt: answeredAtSchema,
  answeredBy: answeredBySchema,
  failureReason: failureReasonSchema,
  sipStatus: sipStatusSchema,
});

const callTranscribed = z.object({
  ...ofCall,
  durationSeconds: durationSchema,
  transcript: z.array(transcriptEntrySchema),
  summary: z.string().nullable(),
  sentiment: z.enum(['positive', 'neutral', 'negative']).nullable(),
  intentDetected: z.string().nullable(),
  extracted: z.record(z.string(), z.unknown()).optional().openapi({
    description: 'What the `extract` of the agent asks for; there only where it was found.',
  }),
  success: z.object({ met: z.boolean(), reason: z.string() }).optional().openapi({
    description:
      'Whether the `successCriteria` of the agent were met; there only where the call was judged.',
  }),
  recordingUrl: z.string().openapi({ description: 'Empty when there is no recording.' }),
  recordingTruncated: z.literal(true).optional().openapi({
    description:
      'There only where the recording ends before the call does, because the disk took no more.',
  }),
});

const appointmentBooked = z.object({
  ...ofCall,
  appointment: z.object({
    id: z.string(),
    title: z.string(),
    startTime: timestamp,
    endTime: timestamp,
    attendeePhone: z.string(),
    attendeeName: z.string(),
    calendarId: z.string(),
    confirmed: z.boolean(),
  }),
});

const callBridged = z.object({
  callId: ofCall.callId,
  bridgedTo: z.string(),
  bridgedAt: timestamp,
  qualificationSummary: z.string(),
  agentRole: z.enum(['observer', 'participant', 'left']),
});

const webhookTest = z.object({
  endpointId: z.string().openapi({ example: 'we_0VbZOZK8iLGcXSKvcmQMdaX5' }),
});

interface EventDocs {
  readonly when: string;
  readonly schema: ReturnType<typeof bodyOf>;
}

/** Each kind's body, and when it is sent. */
export const EVENT_BODIES: Readonly<Record<ServiceEventKind, EventDocs>> = {
  'call.started': {
    when: 'A caller was picked up, or a callee answered',
    schema: bodyOf('call.started', 'CallStartedEvent', callStarted),
  },
  'call.ended': {
    when: 'A call ended, for whichever reason',
    schema: bodyOf('call.ended', 'CallEndedEvent', callEnded),
  },
  'call.transcribed': {
    when: 'The whole transcript of an ended call is there, with what was made of it',
    schema: bodyOf('call.transcribed', 'CallTranscribedEvent', callTranscribed),
  },
  'appointment.booked': {
    when: 'The agent booked an appointment during a call',
    schema: bodyOf('appointment.booked', 'AppointmentBookedEvent', appointmentBooked),
  },
  'call.bridged': {
    when: 'The caller and another party were connected',
    schema: bodyOf('call.bridged', 'CallBridgedEvent', callBridged),
  },
  'webhook.test': {
    when: 'A test was asked for; sent to that endpoint alone, whichever kinds it names',
    schema: bodyOf('webhook.test', 'WebhookTestEvent', webhookTest),
  },
};

function bodyOf(kind: ServiceEventKind, name: string, data: z.ZodObject) {
  return z
    .object({
      event: z.literal(kind),
      id: z.string().openapi({
        description: 'The same in every attempt: receivers pass over one they have seen.',
        example: 'evt_0VbZOZK8iLGcXSKvcmQMdaX5',
      }),
      createdAt: timestamp,
      data,
    })
    .openapi(name);
}

const { limit } = pagingFields(PAGE_LIMIT);

const ledgerQuerySchema = z
  .strictObject({
    limit,
    cursor: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .openapi({ param: { description: '`nextCursor` of a page; without it, the oldest event.' } }),
    event: z.enum(CUSTOMER_EVENT_KINDS).optional(),
    callId: z.string().min(1).max(100).optional(),
    startDate: dayStart
      .optional()
      .openapi({ ...dayDocs, param: { description: 'First UTC day of creation.' } }),
    endDate: dayEnd
      .optional()
      .openapi({ ...dayDocs, param: { description: 'Last UTC day of creation.' } }),
  })
  .refine(
    ({ startDate, endDate }) =>
      startDate === undefined || endDate === undefined || startDate < endDate,
    { path: ['endDate'], message: 'expected a day that is not before startDate' },
  );

const eventSchema = z
  .union(CUSTOMER_EVENT_KINDS.map((kind) => EVENT_BODIES[kind].schema))
  .openapi('Event', { description: 'As it was sent to webhook endpoints.' });

const ledgerPageSchema = z
  .object({
    data: z.array(eventSchema),
    nextCursor: z.string().openapi({
      description:
        'Where the next page begins. Always there: at the end of the ledger, keep it and ask again later.',
    }),
    hasMore: z.boolean().openapi({
      description:
        'Whether the ledger goes on. Where filters leave out many events, a page may hold few, even none, and yet this is true: follow `nextCursor`.',
    }),
  })
  .openapi('EventLedgerPage');

const listRoute = describeRoute('get', '/api/events', {
  operationId: 'listEvents',
  tag: 'Events',
  summary: 'Reads the ledger of events, oldest first',
  description:
    'Every event of the last 30 days in the order in which it happened, whether or not an endpoint was sent it; test events are left out. Pages that follow `nextCursor` hold each event once, also while new ones are added. Needs the scope `calls:read`, because events tell what was said on calls.',
  scope: 'calls:read',
  request: { query: ledgerQuerySchema },
  responses: { 200: jsonResponse('A page of events.', ledgerPageSchema) },
});

/** Adds `/api/events`, the ledger of events. */
export function addEventRoutes(api: ApiApp, { events }: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    const { limit, cursor, event, callId, startDate, endDate } = context.req.valid('query');
    const scope = scopeOf(context);
    const afterPosition = cursor === undefined ? 0 : positionOf(scope, cursor);
    const filters = given({ kind: event, callId, createdFrom: startDate, createdBefore: endDate });
    const page = await events.page(scope, { ...filters, afterPosition, limit });
    return context.json(serializeLedgerPage(scope, page), 200);
  });
}

function serializeLedgerPage(scope: Scope, page: LedgerPage): z.infer<typeof ledgerPageSchema> {
  return {
    data: page.events.map(eventView),
    nextCursor: cursorOf(scope, page.nextPosition),
    hasMore: page.hasMore,
  };
}

/** @throws {ServiceError} VALIDATION_ERROR when no page of this account and environment gave the cursor. */
function positionOf(scope: Scope, cursor: string): number {
  const [digits = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  const position = Number(digits);
  if (!Number.isSafeInteger(position) || cursorOf(scope, position) !== cursor) {
    const message = 'expected a nextCursor that this account and environment was given';
    throw new ServiceError('VALIDATION_ERROR', `Cannot read the query: cursor: ${message}`, [
      { path: 'cursor', message },
    ]);
  }
  return position;
}

/**
 * Base64url of `<position>.<check>`. The check finds mistakes; it keeps no secret, because a page never holds events of
 * other events, at any position.
 */
function cursorOf({ accountId, environment }: Scope, position: number): string {
  const hash = createHash('sha256').update(`${accountId} ${environment} ${position}`);
  const check = hash.digest('base64url').slice(0, 8);
  return Buffer.from(`${position}.${check}`).toString('base64url');
}

/** The envelope is in the bytes that were sent, and nowhere else. */
function eventView(event: ServiceEvent): z.infer<typeof eventSchema> {
  return JSON.parse(event.body) as z.infer<typeof eventSchema>;
}
