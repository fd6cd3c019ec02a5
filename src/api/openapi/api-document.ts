/** The interface's own description, made from the schemas that validate it, and what all operations share. */
import { compress } from 'hono/compress';
import type { ApiApp, ApiDeps } from '../api-env.ts';
import { API_VERSION } from '../http/request-identity.ts';
import { errorCodeTable } from '../schemas/error-schema.ts';
import { ANSWER_HEADERS, IDEMPOTENCY_KEY, IF_MATCH, TAGS } from './common-components.ts';
import { addWebhookDocs } from './webhook-docs.ts';

const DESCRIPTION = [
  'Voice agents that answer and place telephone calls.',
  'Every request carries `Authorization: Bearer <API_KEY>`. A `svc_live_` key makes real calls; a `svc_test_` key sees and makes only test resources, and its calls are simulated. A key has scopes, such as `agents:read`; without the one that an operation needs the answer is 403.',
  'Errors are `{"error": {code, message, status, requestId}}`, with `details` for each wrong field on 400. Unknown fields and unknown query parameters are refused by name. What belongs to another account or environment is answered like what does not exist.',
  'Lists are `{data, total, limit, offset}`. Timestamps are ISO 8601 in UTC with milliseconds.',
  `Every answer has \`X-Request-Id\` and \`X-API-Version\` (now ${API_VERSION}). Requests are counted in fixed hours, for each account and environment: \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\`, and \`X-RateLimit-Reset\` in Unix seconds.`,
  '## Error codes',
  errorCodeTable(),
].join('\n\n');

/** Serves the document, made at the first request, and registers what all operations share. Call it before routes are added. */
export function addDocument(api: ApiApp, deps: Pick<ApiDeps, 'version' | 'publicUrl'>): void {
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
  let text: string | undefined;
  // The longest document that the server sends.
  api.get('/api/openapi.json', compress(), (context) => {
    text ??= JSON.stringify(
      api.getOpenAPI31Document({
        openapi: '3.1.0',
        info: { title: 'Offhook', version: deps.version, description: DESCRIPTION },
        servers: [{ url: deps.publicUrl }],
        tags: [...TAGS],
      }),
    );
    return context.body(text, 200, { 'Content-Type': 'application/json' });
  });
}
