/** `/api/events`: the ledger, for receivers that were away for longer than webhooks are tried. */
import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Scope } from '../../domain/agent/agent.ts';
import { given } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import {
  CUSTOMER_EVENT_KINDS,
  type LedgerPage,
  type ServiceEvent,
} from '../../domain/webhook/service-event.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { describeRoute } from '../http/describe-route.ts';
import { dayDocs, dayEnd, dayStart } from '../schemas/day-schema.ts';
import { EVENT_BODIES } from '../schemas/event-body-schemas.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { PAGE_LIMIT, pagingFields } from '../schemas/paging-schema.ts';

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

const listRoute = describeRoute({
  operationId: 'listEvents',
  method: 'get',
  path: '/api/events',
  tag: 'Events',
  summary: 'Reads the ledger of events, oldest first',
  description:
    'Every event of the last 30 days in the order in which it happened, whether or not an endpoint was sent it; test events are left out. Pages that follow `nextCursor` hold each event once, also while new ones are added. Needs the scope `calls:read`, because events tell what was said on calls.',
  scope: 'calls:read',
  request: { query: ledgerQuerySchema },
  responses: { 200: jsonResponse('A page of events.', ledgerPageSchema) },
});

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
