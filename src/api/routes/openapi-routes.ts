/** `/api/openapi.json`: the interface's own description, made from the schemas that validate it. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiDeps, ApiEnv } from '../api-env.ts';
import { API_VERSION } from '../middleware/request-identity.ts';

const DESCRIPTION = [
  'Voice agents that answer and place telephone calls. Every request but this one needs',
  '`Authorization: Bearer <API_KEY>`; a `svc_test_` key sees and makes only test resources.',
  `Every answer has \`X-API-Version\` (now ${API_VERSION}) and \`X-Request-Id\`.`,
  'Rate limits are fixed hours: `X-RateLimit-Limit`, `X-RateLimit-Remaining`, and `X-RateLimit-Reset` in Unix seconds.',
].join('\n');

export function addOpenApiRoutes(api: OpenAPIHono<ApiEnv>, deps: ApiDeps): void {
  api.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
  });
  let document: ReturnType<typeof api.getOpenAPI31Document> | undefined;
  api.get('/api/openapi.json', (context) => {
    document ??= api.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Offhook', version: deps.version, description: DESCRIPTION },
      servers: [{ url: deps.publicUrl }],
    });
    return context.json(document, 200);
  });
}
