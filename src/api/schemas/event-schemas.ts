/** What the ledger of events looks like in queries and answers: the one source of validation, types and docs. */
import { z } from '@hono/zod-openapi';
import { CUSTOMER_EVENT_KINDS } from '../../domain/webhook/service-event.ts';
import { dayDocs, dayEnd, dayStart } from './day-schema.ts';
import { EVENT_BODIES } from './event-body-schemas.ts';
import { PAGE_LIMIT, pagingFields } from './paging-schema.ts';

const { limit } = pagingFields(PAGE_LIMIT);

export const ledgerQuerySchema = z
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

export const eventSchema = z
  .union(CUSTOMER_EVENT_KINDS.map((kind) => EVENT_BODIES[kind].schema))
  .openapi('Event', { description: 'As it was sent to webhook endpoints.' });

export const ledgerPageSchema = z
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
