/** `/api/events`: the ledger, for receivers that were away for longer than webhooks are tried. */

import { given } from '../../domain/ids.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { ledgerPageSchema, ledgerQuerySchema } from '../schemas/event-schemas.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { positionOf, serializeLedgerPage } from '../serializers/event-serializer.ts';

const listRoute = describeRoute({
  operationId: 'listEvents',
  method: 'get',
  path: '/api/events',
  tags: ['Events'],
  summary: 'Reads the ledger of events, oldest first',
  description:
    'Every event of the last 30 days in the order in which it happened, whether or not an endpoint was sent it; test events are left out. Pages that follow `nextCursor` hold each event once, also while new ones are added. Needs the scope `calls:read`, because events tell what was said on calls.',
  security: [{ bearer: [] }],
  middleware: [requireScope('calls:read')],
  request: { query: ledgerQuerySchema },
  responses: { 200: jsonResponse('A page of events.', ledgerPageSchema), ...errorResponses(400) },
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
