/** The REST interface: which middleware a request passes, in which order, and which routes there are. */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiDeps, ApiEnv } from './api-env.ts';
import { authentication } from './middleware/authentication.ts';
import { errorHandler, invalidInput, notFoundHandler } from './middleware/errors.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { requestIdentity } from './middleware/request-identity.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { methodsByPath } from './route-table.ts';
import { addAgentRoutes } from './routes/agent-routes.ts';
import { addCallRoutes } from './routes/call-routes.ts';
import { addHealthRoutes } from './routes/health-routes.ts';
import { addOpenApiRoutes } from './routes/openapi-routes.ts';
import { addRecordingRoutes } from './routes/recording-routes.ts';

/** Puts the interface together. Serve it with `HttpServer`, or call its `fetch`. */
export function createApi(deps: ApiDeps): OpenAPIHono<ApiEnv> {
  const api = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.target, result.error);
    },
  });
  api.use('*', requestIdentity(deps));
  api.use('*', securityHeaders(deps));
  api.use('/api/*', authentication(deps));
  api.use('/api/*', rateLimit(deps));
  addHealthRoutes(api, deps);
  addOpenApiRoutes(api, deps);
  addAgentRoutes(api, deps);
  addCallRoutes(api, deps);
  addRecordingRoutes(api, deps);
  api.onError(errorHandler(deps.log));
  api.notFound(notFoundHandler(methodsByPath(api)));
  return api;
}
