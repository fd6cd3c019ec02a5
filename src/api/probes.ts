/** The operator's probes as an application of their own: they answer before the REST interface is loaded. */
import { Hono } from 'hono';
import type { ApiDeps, ApiEnv } from './api-env.ts';
import { errorHandler } from './http/errors.ts';
import { identity, securityHeaders } from './http/request-identity.ts';
import { addHealthRoutes } from './routes/health-routes.ts';

const PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Whether a request is for a probe. Other methods of the same paths are for the REST interface, which refuses them. */
export function isProbe({ method, url }: Pick<Request, 'method' | 'url'>): boolean {
  return (method === 'GET' || method === 'HEAD') && PATHS.has(new URL(url).pathname);
}

/** Answers `/healthz`, `/readyz` and `/metrics` with the headers of every response. */
export function createProbes(
  deps: Pick<ApiDeps, 'readiness' | 'metrics' | 'publicUrl' | 'clock' | 'newId' | 'log'>,
): Hono<ApiEnv> {
  const probes = new Hono<ApiEnv>();
  probes.use(identity(deps));
  probes.use(securityHeaders(deps));
  probes.onError(errorHandler(deps.log));
  addHealthRoutes(probes, deps);
  return probes;
}
