/** Route descriptions for OpenAPI: operations with their guards, JSON contents, common headers and error answers. */

import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import type { ZodType } from 'zod';
import type { ApiScope } from '../../domain/account/api-key.ts';
import { ERROR_STATUS, type ErrorCode } from '../../domain/service-error.ts';
import type { Guard } from '../api-env.ts';
import { noQuery, pageOf } from '../schemas/query-schemas.ts';
import { requireScope } from './access.ts';
import { unreadableBody } from './errors.ts';
import { isJson, noBody } from './request-body.ts';

/** A required JSON body. */
export function jsonBody<Schema extends ZodType>(schema: Schema) {
  // Without `required`, a request that names no content type would pass unchecked.
  return { required: true, content: { 'application/json': { schema } } } as const;
}

/** An answer with JSON. */
export function jsonResponse<Schema extends ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } } as const;
}

/** An answer with a page of a list. @param name of the page's schema. */
export function pageResponse<Item extends ZodType>(description: string, name: string, item: Item) {
  return jsonResponse(description, pageOf(item).openapi(name));
}

/** An answer with the `ETag` of its record. */
export function taggedResponse<Schema extends ZodType>(description: string, schema: Schema) {
  const headers = { ETag: { $ref: '#/components/headers/ETag' } };
  return { ...jsonResponse(description, schema), headers } as const;
}

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

/** The error envelope, the same on every route. */
export const errorSchema = z
  .object({
    error: z.object({
      code: z.enum(CODES).openapi({ example: 'AGENT_NOT_FOUND' }),
      message: z.string(),
      status: z.int().openapi({ example: 404 }),
      requestId: z.string().openapi({ example: 'req_0VbZOZK8iLGcXSKvcmQMdaX5' }),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .openapi({ description: 'On 400: one entry for each wrong field.' }),
    }),
  })
  .openapi('Error');

/** When each code is the answer. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR:
    'The body, the query or a header is malformed; `details` names every wrong field.',
  UNAUTHORIZED: 'The API key is missing, unknown or revoked.',
  FORBIDDEN: 'The key lacks the scope, or a signed link is not genuine or has expired.',
  NOT_FOUND: 'No such path or resource in the account and environment of the key.',
  AGENT_NOT_FOUND: 'No such agent.',
  CALL_NOT_FOUND: 'No such call.',
  VOICE_NOT_FOUND: 'No such voice.',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'No such webhook endpoint.',
  CONFLICT: 'The resource exists already, or its state forbids the change.',
  PRECONDITION_FAILED: 'The resource is newer than the version in `If-Match`.',
  UNPROCESSABLE: 'The request is well-formed, but cannot be carried out.',
  RATE_LIMITED: 'The requests of this hour are used up; see `Retry-After`.',
  INTERNAL_ERROR: 'The server failed; report the `requestId`.',
  SERVICE_UNAVAILABLE:
    'The server is full, stopping, or its database is unavailable; see `Retry-After`.',
};

/** All codes with status and meaning, as a table in Markdown. */
export function errorCodeTable(): string {
  const rows = CODES.map((code) => `| \`${code}\` | ${ERROR_STATUS[code]} | ${MEANINGS[code]} |`);
  return ['| Code | Status | When |', '| --- | --- | --- |', ...rows].join('\n');
}

const DESCRIPTIONS = {
  400: 'Invalid or missing fields.',
  401: 'API key missing, unknown or revoked.',
  403: 'The key may not do this, or the link is not genuine or has expired.',
  404: 'There is no such resource in the account and environment of the key.',
  409: 'The resource exists already, or is in a state that forbids this.',
  412: 'The resource was changed after the version that `If-Match` names; `ETag` has the newest.',
  416: 'The recording has no such bytes.',
  422: 'Well-formed, but cannot be processed, such as an impossible number.',
  429: 'The hour is used up; `Retry-After` says in how many seconds the next begins.',
  500: 'The server failed; the request id identifies the request.',
  503: 'Temporarily unavailable; retry later.',
} as const;

type ErrorStatus = keyof typeof DESCRIPTIONS;

/** Every route may answer with these. */
const ALWAYS: readonly ErrorStatus[] = [400, 401, 403, 429, 500, 503];

/** The documented errors of a route: its own, and those that every route has. */
function errorResponses(own: readonly ErrorStatus[]) {
  const answers = [...own, ...ALWAYS].map((status) => {
    return [status, jsonResponse(DESCRIPTIONS[status], errorSchema)] as const;
  });
  return Object.fromEntries(answers);
}

interface HeaderDocs {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer'; readonly example?: string | number };
}

/** Answer headers by their names. */
export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description: 'Identifies the request, also in errors and in the log.',
    schema: { type: 'string', example: 'req_0VbZOZK8iLGcXSKvcmQMdaX5' },
  },
  'X-API-Version': {
    description: 'The date of the version that answers.',
    schema: { type: 'string', example: '2026-11-21' },
  },
  'X-RateLimit-Limit': {
    description: 'Requests that the hour allows.',
    schema: { type: 'integer', example: 1000 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests that are left in the hour.',
    schema: { type: 'integer', example: 999 },
  },
  'X-RateLimit-Reset': {
    description: 'When the next hour begins, in Unix seconds.',
    schema: { type: 'integer', example: 1795269600 },
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', example: 60 },
  },
  Location: {
    description: 'Path of the resource that was made.',
    schema: { type: 'string', example: '/api/agents/agent_0VbZOZK8iLGcXSKvcmQMdaX5' },
  },
  ETag: {
    description: 'Names this version of the resource, for `If-Match`.',
    schema: { type: 'string', example: '"2026-11-21T08:00:00.000Z"' },
  },
  'Idempotent-Replayed': {
    description: '`true` when this is the answer that the same `X-Idempotency-Key` got before.',
    schema: { type: 'string', example: 'true' },
  },
} as const satisfies Record<string, HeaderDocs>;

type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** @see draft-ietf-httpapi-idempotency-key-header-07 */
export const IDEMPOTENCY_KEY = {
  name: 'X-Idempotency-Key',
  in: 'header',
  required: false,
  description: [
    'Makes the request safe to repeat: 1 to 255 visible ASCII characters, best a UUID of version 4.',
    'For 24 hours the same key and the same body (equal as JSON) get the answer of the first request, with `Idempotent-Replayed: true`; another body gets 422.',
    'Keys count for each account, environment, method and path. Answers with 400, 401, 429 and 5xx are not kept.',
    'A request that finds the first one still running gets 409 with `Retry-After`. Effect, key and answer are saved in one step.',
  ].join(' '),
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  example: '2f1b9a4e-3a52-4d5b-9f57-5a6e0d3b8c11',
} as const;

/** @see RFC 9110 section 13.1.1 */
export const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The `ETag` of the version that the change was made from. 412 when the resource was changed meanwhile; without the header the last change wins.',
  schema: { type: 'string' },
  example: '"2026-11-21T08:00:00.000Z"',
} as const;

/** Documents that an operation takes `If-Match`. */
export const TAKES_IF_MATCH = {
  parameters: [{ $ref: '#/components/parameters/IfMatch' }],
};

/** The headers of an answer: those that every one has, and what its status adds. */
function headerRefs(method: string, status: string) {
  const always: readonly AnswerHeader[] = [
    'X-Request-Id',
    'X-API-Version',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
  ];
  const names = [...always, ...headersOf(method, status)];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function headersOf(method: string, status: string): readonly AnswerHeader[] {
  if (status === '429' || status === '503') return ['Retry-After'];
  if (method !== 'post' || ['400', '401', '500'].includes(status)) return [];
  return status === '201' ? ['Location', 'Idempotent-Replayed'] : ['Idempotent-Replayed'];
}

/** Groups of operations, in the order in which a newcomer needs them. */
export const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Agents', description: 'Voice agents: who answers, with which words and which tools.' },
  { name: 'Knowledge', description: 'Documents that agents answer from.' },
  { name: 'Tools', description: 'HTTP requests of your own that agents may make during calls.' },
  { name: 'SMS', description: 'Gateways of the messages that agents send during calls.' },
  { name: 'Calendars', description: 'Where agents book appointments, and what they booked.' },
  { name: 'Voices', description: 'The voices that agents can be given, and how they sound.' },
  { name: 'Calls', description: 'Calls, past and present, with transcripts and recordings.' },
  { name: 'Campaigns', description: 'Calls to a list of numbers, at a pace.' },
  { name: 'Sandbox', description: 'Simulated callers, for test keys.' },
  { name: 'Analytics', description: 'What calls add up to.' },
  { name: 'Webhooks', description: 'Where events are sent, and how that went.' },
  { name: 'Events', description: 'The ledger of all events of the last 30 days.' },
  { name: 'Trunks', description: 'The ways that calls come and go by, and whose the numbers are.' },
  { name: 'Models', description: 'What can be downloaded to hear, speak and think with.' },
  { name: 'Audit log', description: 'Who changed what, and who signed in to the dashboard.' },
  { name: 'Logs', description: 'The newest requests, and what the server has warned of.' },
  { name: 'Privacy', description: 'Erasing what was kept of a person.' },
  { name: 'Keys', description: 'API keys and what each may do.' },
  { name: 'Account', description: 'The account, its plan and its signing secret.' },
];

/** Route in the form of zod-openapi; `responses` holds the successes only. */
interface Operation extends Omit<RouteConfig, 'method' | 'path' | 'tags' | 'middleware' | 'hide'> {
  readonly tag: string;
  /** Which the key must have; without it, the handler decides who may ask. */
  readonly scope?: ApiScope;
  /** Comes before the key is asked for its scope. */
  readonly before?: Guard;
  /** Further error statuses; those of every route, and those of method and path, are added. */
  readonly errors?: readonly ErrorStatus[];
}

type ParamsIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsIn<Rest>
  : never;

/** A route whose parameters of the path are texts, unless it names their schema itself. */
type WithParams<Path, Route> = Route extends { request: { params: ZodType } }
  ? Route
  : Route & { request: { params: z.ZodObject<Record<ParamsIn<Path>, z.ZodString>> } };

type Described<Method, Path, Route> = WithParams<Path, Route & { method: Method; path: Path }>;

function paramsIn(path: string) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (names.length === 0) return undefined;
  return z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
}

/**
 * Describes a route. Parameters of the path are texts unless it says more of them. Parameters of the query are refused where
 * it names none, a body likewise; a route with a body requires a JSON content type. Each POST takes an idempotency key.
 */
export function describeRoute<
  const Method extends RouteConfig['method'],
  const Path extends string,
  Route extends Operation,
>(method: Method, path: Path, route: Route) {
  const { scope, before, errors = [], tag, ...operation } = route;
  const { request, parameters = [], responses } = operation;
  const isPost = method === 'post';
  const ofMethod: readonly ErrorStatus[] = isPost ? [409, 422] : [];
  const params = paramsIn(path);
  const ofPath: readonly ErrorStatus[] = params === undefined ? [] : [404];
  const answers = { ...responses, ...errorResponses([...ofPath, ...ofMethod, ...errors]) };
  const ofBody = request?.body === undefined ? isPost && noBody : requireJson;
  const described = {
    security: scope && [{ bearer: [scope] }],
    ...{ ...operation, method, path },
    tags: [tag],
    request: { query: noQuery, ...(params && { params }), ...request },
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => {
        const own = 'headers' in answer ? answer.headers : {};
        return [status, { ...answer, headers: { ...headerRefs(method, status), ...own } }];
      }),
    ),
    ...(isPost && { parameters: [...parameters, IDEMPOTENCY_KEY_REF] }),
    middleware: [before, scope && requireScope(scope), ofBody].filter((guard) => !!guard),
  };
  // The additions change no type that handlers see.
  return createRoute<Path, Described<Method, Path, Route>>(
    described as unknown as Described<Method, Path, Route>,
  );
}

/** Describes routes that share their tag, and the scope that the key must have. */
export function routesOf<const Shared extends Pick<Operation, 'tag' | 'scope'>>(shared: Shared) {
  return <
    const Method extends RouteConfig['method'],
    const Path extends string,
    Route extends Omit<Operation, 'tag' | 'scope'>,
  >(
    method: Method,
    path: Path,
    route: Route,
  ) => describeRoute(method, path, { ...shared, ...route });
}

const IDEMPOTENCY_KEY_REF = { $ref: '#/components/parameters/IdempotencyKey' };

/** A request with neither body nor content type passes: the schema then names the fields that are missing. */
const requireJson: Guard = (context, next) => {
  const isEmpty = !context.req.header('content-type') && context.get('bodyText') === '';
  if (isEmpty || isJson(context)) return next();
  throw unreadableBody('Content-Type', 'expected application/json');
};
