/** `/api/audit-log`: who changed what, and who tried to sign in. */
import type { ApiApp, ApiDeps } from '../../api-env.ts';
import { describeRoute } from '../../http/describe-route.ts';
import { requireOperator } from '../../operator.ts';
import {
  auditEntrySchema,
  auditPageSchema,
  auditQuerySchema,
} from '../../schemas/audit-log-schemas.ts';
import { jsonResponse } from '../../schemas/json-content.ts';
import { viewOf } from '../../serializers/view-of.ts';

const listRoute = describeRoute({
  tag: 'Audit log',
  scope: 'admin',
  operationId: 'listAuditLog',
  method: 'get',
  path: '/api/audit-log',
  summary: 'Lists changes, newest first',
  description:
    'One entry for each change by the dashboard, the REST interface or `npm run admin`, of all accounts, and for each attempt to sign in. Entries are kept for 400 days, 500,000 at most. Never bodies, secrets, telephone numbers or words of calls. Needs a live key of the first account.',
  request: { query: auditQuerySchema },
  responses: { 200: jsonResponse('A page of the audit log.', auditPageSchema) },
});

export function addAuditLogRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    await requireOperator(context, deps);
    const query = context.req.valid('query');
    const { entries, total } = await deps.auditLog.page(query);
    const data = entries.map((entry) => viewOf(auditEntrySchema, entry));
    return context.json({ data, total, limit: query.limit, offset: query.offset }, 200);
  });
}
