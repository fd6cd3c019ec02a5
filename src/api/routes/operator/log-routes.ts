/** `/api/logs`: the newest requests, and the newest warnings and errors of the server. */
import {
  isWanted,
  REQUESTS_MAX,
  type RequestEntry,
  STRANGERS_MAX,
} from '../../../domain/account/request-log.ts';
import { SERVER_LOG_MAX } from '../../../lib/server-log.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../../api-env.ts';
import { describeRoute } from '../../http/describe-route.ts';
import { isOperator, requireOperator } from '../../operator.ts';
import { jsonResponse } from '../../schemas/json-content.ts';
import {
  requestEntrySchema,
  requestLogPageSchema,
  requestLogQuerySchema,
  serverLogEntrySchema,
  serverLogPageSchema,
  serverLogQuerySchema,
} from '../../schemas/log-schemas.ts';
import { viewOf } from '../../serializers/view-of.ts';

const shared = { tag: 'Logs', scope: 'admin', method: 'get' } as const;

const requestsRoute = describeRoute({
  ...shared,
  operationId: 'listRequestLog',
  path: '/api/logs/requests',
  summary: 'Lists requests, newest first',
  description: `The newest requests of the key's account and environment, of the last ${REQUESTS_MAX} of all accounts since the server started; for a live key of the first account also the last ${STRANGERS_MAX} without a valid key. Requests of the dashboard that only read, and succeed, are not in it. Never paths, queries, bodies, headers or addresses.`,
  request: { query: requestLogQuerySchema },
  responses: { 200: jsonResponse('A page of the requests.', requestLogPageSchema) },
});

const serverRoute = describeRoute({
  ...shared,
  operationId: 'listServerLog',
  path: '/api/logs/server',
  summary: 'Lists warnings and errors of the server, newest first',
  description: `The last ${SERVER_LOG_MAX} since the server started, of all accounts, at every LOG_LEVEL. Messages without their fields: the log on standard output has those. Needs a live key of the first account.`,
  request: { query: serverLogQuerySchema },
  responses: { 200: jsonResponse('A page of the log.', serverLogPageSchema) },
});

export function addLogRoutes(api: ApiApp, deps: ApiDeps): void {
  const { requestLog, serverLog } = deps;

  api.openapi(requestsRoute, async (context) => {
    const { status, route, requestId, ...page } = context.req.valid('query');
    const statusClass = status === undefined ? undefined : Number(status[0]);
    const isOwn = await ownRequests(context, deps);
    const found = requestLog
      .newestFirst()
      .filter((entry) => isOwn(entry) && isWanted(entry, { statusClass, route, requestId }));
    const data = sliceOf(found, page).map((entry) => viewOf(requestEntrySchema, entry));
    const since = requestLog.startedAt.toISOString();
    return context.json({ data, ...page, total: found.length, since, keptMax: REQUESTS_MAX }, 200);
  });

  api.openapi(serverRoute, async (context) => {
    await requireOperator(context, deps);
    const { level, text, requestId, ...page } = context.req.valid('query');
    const part = text?.toLowerCase();
    const found = serverLog
      .newestFirst()
      .filter(
        (entry) =>
          (level === undefined || entry.level === level) &&
          (requestId === undefined || entry.requestId === requestId) &&
          (part === undefined || entry.message.toLowerCase().includes(part)),
      );
    const data = sliceOf(found, page).map((entry) => viewOf(serverLogEntrySchema, entry));
    const since = serverLog.startedAt.toISOString();
    return context.json(
      { data, ...page, total: found.length, since, keptMax: SERVER_LOG_MAX },
      200,
    );
  });
}

/** Which requests a key may see: those of its account and environment; the operator's also those of no account. */
async function ownRequests(
  context: ApiContext,
  deps: ApiDeps,
): Promise<(entry: RequestEntry) => boolean> {
  const { accountId, environment } = scopeOf(context);
  const seesNoAccount = await isOperator(context, deps);
  return (entry) =>
    entry.accountId === null
      ? seesNoAccount
      : entry.accountId === accountId && entry.environment === environment;
}

function sliceOf<Item>(
  items: readonly Item[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): readonly Item[] {
  return items.slice(offset, offset + limit);
}
