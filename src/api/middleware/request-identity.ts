/** Gives every request an id and the headers that all answers have, and tells log and metrics how it ended. */
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { ApiContext, ApiDeps, ApiEnv } from '../api-env.ts';
import { setHeaders } from '../response-headers.ts';
import { securityHeaders } from './security-headers.ts';

/** Changes when an answer changes in a way that a customer's program may notice. */
export const API_VERSION = '2026-11-21';

export function requestIdentity(deps: ApiDeps): MiddlewareHandler<ApiEnv> {
  const headers = Object.entries({ 'X-API-Version': API_VERSION, ...securityHeaders(deps) });
  return async (context, next) => {
    const startMs = deps.clock.nowMs();
    const requestId = deps.newId('req');
    context.set('requestId', requestId);
    setHeaders(context, [['X-Request-Id', requestId]]);
    setHeaders(context, headers);
    await next();
    const { method } = context.req;
    const { status } = context.res;
    const durationMs = deps.clock.nowMs() - startMs;
    const route = routeOf(context);
    deps.metrics.httpRequest({ route, method, status, durationMs });
    // Probes come every few seconds and would bury the rest.
    const level = route.startsWith('/api') ? 'info' : 'debug';
    deps.log[level]({ requestId, method, route, status, durationMs }, 'http: answered');
  };
}

/** The pattern that answered, such as `/api/calls/{callId}`; ids never become labels. */
function routeOf(context: ApiContext): string {
  const path = routePath(context, -1);
  return path.includes('*') ? 'unmatched' : path.replaceAll(/:(\w+)/g, '{$1}');
}
