/** The interface's own description, made from the schemas that validate it, and what all operations share. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiApp, ApiDeps } from '../api-env.ts';
import { scopeRequiredBy } from '../http/authentication.ts';
import { API_VERSION } from '../http/request-identity.ts';
import { errorCodeTable } from '../schemas/error-schema.ts';
import { ANSWER_HEADERS, headersOf, IDEMPOTENCY_KEY, IF_MATCH, TAGS } from './common-components.ts';
import { addWebhookDocs } from './webhook-docs.ts';

export type ApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>;

type RouteDocs = NonNullable<NonNullable<ApiDocument['paths']>[string]['get']>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const DESCRIPTION = [
  'Voice agents that answer and place telephone calls.',
  'Every request carries `Authorization: Bearer <API_KEY>`. A `svc_live_` key makes real calls; a `svc_test_` key sees and makes only test resources, and its calls are simulated. A key has scopes, such as `agents:read`; without the one that an operation needs the answer is 403.',
  'Errors are `{"error": {code, message, status, requestId}}`, with `details` for each wrong field on 400. Unknown fields and unknown query parameters are refused by name. What belongs to another account or environment is answered like what does not exist.',
  'Lists are `{data, total, limit, offset}`. Timestamps are ISO 8601 in UTC with milliseconds.',
  `Every answer has \`X-Request-Id\` and \`X-API-Version\` (now ${API_VERSION}). Requests are counted in fixed hours, for each account and environment: \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\`, and \`X-RateLimit-Reset\` in Unix seconds.`,
  '## Error codes',
  errorCodeTable(),
].join('\n\n');

/**
 * Registers what all operations share. Call it before routes are added.
 *
 * @returns gives the document, made at the first question, when all routes have been added.
 */
export function documentOf(
  api: ApiApp,
  deps: Pick<ApiDeps, 'version' | 'publicUrl'>,
): () => ApiDocument {
  const { openAPIRegistry: registry } = api;
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `svc_live_…` or `svc_test_…`.',
  });
  registry.registerComponent('parameters', 'IdempotencyKey', { ...IDEMPOTENCY_KEY });
  registry.registerComponent('parameters', 'IfMatch', { ...IF_MATCH });
  for (const [name, docs] of Object.entries(ANSWER_HEADERS)) {
    registry.registerComponent('headers', name, docs);
  }
  addWebhookDocs(registry);
  let document: ApiDocument | undefined;
  return () => {
    document ??= withSharedParts(
      api,
      api.getOpenAPI31Document({
        openapi: '3.1.0',
        info: { title: 'Offhook', version: deps.version, description: DESCRIPTION },
        servers: [{ url: deps.publicUrl }],
        tags: [...TAGS],
      }),
    );
    return document;
  };
}

/** Says at every operation which scope it needs and which headers its answers have. */
function withSharedParts(api: ApiApp, document: ApiDocument): ApiDocument {
  const scopes = scopesOf(api);
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation !== undefined) completeOne(operation, method, scopes.get(`${method} ${path}`));
    }
  }
  return document;
}

function completeOne(operation: RouteDocs, method: string, scope: string | undefined): void {
  if (scope !== undefined) operation.security = [{ bearer: [scope] }];
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    response.headers = { ...headerRefs(method, status), ...response.headers };
  }
  if (method !== 'post') return;
  const repeatable = { $ref: '#/components/parameters/IdempotencyKey' };
  operation.parameters = [...(operation.parameters ?? []), repeatable];
}

/** The scope that each operation requires, by method and path. Since OpenAPI 3.1 a bearer may list scopes, as OAuth does. */
function scopesOf(api: ApiApp): ReadonlyMap<string, string> {
  const scopes = new Map<string, string>();
  for (const { method, path, handler } of api.routes) {
    const scope = scopeRequiredBy(handler);
    const pattern = path.replace(/:(\w+)/g, '{$1}');
    if (scope !== undefined) scopes.set(`${method.toLowerCase()} ${pattern}`, scope);
  }
  return scopes;
}

function headerRefs(method: string, status: string): Record<string, { readonly $ref: string }> {
  const names = headersOf(method, status);
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
