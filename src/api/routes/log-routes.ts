/** `/api/logs` and `/api/audit-log`: the newest requests, the newest warnings and errors of the server, and who changed what. */
import { z } from '@hono/zod-openapi';
import { AUDIT_ACTORS } from '../../domain/account/audit-log.ts';
import {
  isWanted,
  REQUEST_ACTORS,
  REQUESTS_MAX,
  type RequestEntry,
  STRANGERS_MAX,
} from '../../domain/account/request-log.ts';
import type { PageRange } from '../../domain/ids.ts';
import { SERVER_LOG_LEVELS, SERVER_LOG_MAX } from '../../lib/server-log.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { isOperator, requireOperator } from '../http/access.ts';
import { describeRoute, jsonResponse, pageResponse, routesOf } from '../http/describe-route.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from '../schemas/query-schemas.ts';
import { viewOf } from '../serializers.ts';

const requestId = z.string().openapi({ example: 'req_0VbZOZK8iLGcXSKvcmQMdaX5' });

const keptFields = {
  since: z.iso.datetime().openapi({ description: 'Start of the server, and of the log.' }),
  keptMax: z.int().openapi({ description: 'Older entries than so many are gone.' }),
};

const requestEntrySchema = z
  .object({
    requestId,
    at: z.iso.datetime().openapi({ description: 'When the request came.' }),
    method: z.string().openapi({ example: 'GET' }),
    route: z.string().openapi({
      description: 'Pattern of the path, never the path itself; `unmatched` for an unknown path.',
      example: '/api/calls/{callId}',
    }),
    status: z.int().openapi({ example: 404 }),
    errorCode: z
      .string()
      .nullable()
      .openapi({ description: '`error.code` of the answer.', example: 'CALL_NOT_FOUND' }),
    durationMs: z.int(),
    actor: z.enum(REQUEST_ACTORS).openapi({
      description:
        '`user`: a user of the dashboard; `key`: an API key; `none`: no valid key or session.',
    }),
    actorId: z.string().nullable().openapi({ description: 'Id of the user or key.' }),
    actorName: z.string().nullable().openapi({
      description: 'Name of the user, or prefix and last four characters of the key.',
    }),
    accountId: z.string().nullable(),
    environment: z.string().nullable(),
  })
  .openapi('RequestLogEntry');

const requestLogPageSchema = pageOf(requestEntrySchema)
  .extend(keptFields)
  .openapi('RequestLogPage');

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;

const part = z.string().min(1).max(200).optional();

const requestLogQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  status: z
    .enum(STATUS_CLASSES)
    .optional()
    .openapi({ param: { description: 'Only answers of this class.' } }),
  route: part.openapi({
    param: { description: 'Only requests whose method and route contain this text.' },
  }),
  requestId: part.openapi({ param: { description: 'Only this request.' } }),
});

const serverLogEntrySchema = z
  .object({
    at: z.iso.datetime(),
    level: z.enum(SERVER_LOG_LEVELS),
    component: z.string().openapi({ example: 'http' }),
    message: z.string().openapi({ example: 'http: request failed' }),
    code: z.string().nullable().openapi({ description: 'Code of the error.' }),
    requestId: requestId.nullable(),
  })
  .openapi('ServerLogEntry');

const serverLogPageSchema = pageOf(serverLogEntrySchema)
  .extend(keptFields)
  .openapi('ServerLogPage');

const serverLogQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  level: z
    .enum(SERVER_LOG_LEVELS)
    .optional()
    .openapi({ param: { description: 'Only entries of this level.' } }),
  text: part.openapi({ param: { description: 'Only entries whose message contains this text.' } }),
  requestId: part.openapi({ param: { description: 'Only entries about this request.' } }),
});

const auditEntrySchema = z
  .object({
    id: z.string().openapi({ example: 'aud_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    at: z.iso.datetime(),
    actor: z.enum(AUDIT_ACTORS).openapi({
      description:
        '`user`: a user of the dashboard; `key`: an API key; `cli`: `npm run admin` on the server; `none`: an attempt to sign in.',
    }),
    actorId: z.string().nullable().openapi({ description: 'Id of the user or key.' }),
    actorName: z.string().nullable().openapi({
      description: 'Name of the user, or prefix and last four characters of the key, as of then.',
    }),
    address: z.string().nullable().openapi({ description: 'IP address of the client.' }),
    action: z.string().openapi({
      description: 'Method and route, or the command.',
      example: 'PATCH /api/agents/{agentId}',
    }),
    resource: z.string().nullable().openapi({
      description: 'Id or name of what was changed; never a telephone number.',
      example: 'agent_0VbZOZK8iLGcXSKvcmQMdaX5',
    }),
    status: z.int().nullable().openapi({ description: 'HTTP status of the answer.' }),
    accountId: z.string().nullable(),
    environment: z.string().nullable(),
  })
  .openapi('AuditEntry');

const exact = z.string().min(1).max(200).optional();

const auditQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  actorId: exact.openapi({ param: { description: 'Only changes by this user or key.' } }),
  resource: exact.openapi({ param: { description: 'Only changes of this id or name.' } }),
});

const adminRoute = routesOf({ tag: 'Logs', scope: 'admin' });

const requestsRoute = adminRoute('get', '/api/logs/requests', {
  operationId: 'listRequestLog',
  summary: 'Lists requests, newest first',
  description: `The newest requests of the key's account and environment, of the last ${REQUESTS_MAX} of all accounts since the server started; for a live key of the first account also the last ${STRANGERS_MAX} without a valid key. Requests of the dashboard that only read, and succeed, are not in it. Never paths, queries, bodies, headers or addresses.`,
  request: { query: requestLogQuerySchema },
  responses: { 200: jsonResponse('A page of the requests.', requestLogPageSchema) },
});

const serverRoute = adminRoute('get', '/api/logs/server', {
  operationId: 'listServerLog',
  summary: 'Lists warnings and errors of the server, newest first',
  description: `The last ${SERVER_LOG_MAX} since the server started, of all accounts, at every LOG_LEVEL. Messages without their fields: the log on standard output has those. Needs a live key of the first account.`,
  request: { query: serverLogQuerySchema },
  responses: { 200: jsonResponse('A page of the log.', serverLogPageSchema) },
});

/** Adds the audit log, the newest requests, and the newest warnings and errors. */
export function addLogRoutes(api: ApiApp, deps: ApiDeps): void {
  addAuditLog(api, deps);
  addNewestEntries(api, deps);
}

function addNewestEntries(api: ApiApp, deps: ApiDeps): void {
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

function sliceOf<Item>(items: readonly Item[], { limit, offset }: PageRange): readonly Item[] {
  return items.slice(offset, offset + limit);
}

const listRoute = describeRoute('get', '/api/audit-log', {
  tag: 'Audit log',
  scope: 'admin',
  operationId: 'listAuditLog',
  summary: 'Lists changes, newest first',
  description:
    'One entry for each change by the dashboard, the REST interface or `npm run admin`, of all accounts, and for each attempt to sign in. Entries are kept for 400 days, 500,000 at most. Never bodies, secrets, telephone numbers or words of calls. Needs a live key of the first account.',
  request: { query: auditQuerySchema },
  responses: { 200: pageResponse('A page of the audit log.', 'AuditPage', auditEntrySchema) },
});

function addAuditLog(api: ApiApp, deps: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    await requireOperator(context, deps);
    const query = context.req.valid('query');
    const { items: entries, total } = await deps.auditLog.page(query);
    const data = entries.map((entry) => viewOf(auditEntrySchema, entry));
    return context.json({ data, total, limit: query.limit, offset: query.offset }, 200);
  });
}
