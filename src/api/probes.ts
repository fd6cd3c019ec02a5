/** The operator's probes as an application of their own: they answer before the REST interface is loaded. */
import { Hono } from 'hono';
import type { ApiDeps, ApiEnv } from './api-env.ts';
import { errorHandler } from './http/errors.ts';
import { identity } from './http/request-identity.ts';

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
  probes.onError(errorHandler(deps.log));
  addHealthRoutes(probes, deps);
  return probes;
}

/** `/healthz`, `/readyz` and `/metrics`: for the operator, without a key. */
export function addHealthRoutes(
  api: Hono<ApiEnv>,
  deps: Pick<ApiDeps, 'readiness' | 'metrics'>,
): void {
  // Liveness only: a supervisor must not restart the server because a carrier is away.
  api.get('/healthz', (context) => context.json({ status: 'ok' }, 200));

  api.get('/readyz', async (context) => {
    const report = await deps.readiness();
    return context.json(report, report.status === 'ready' ? 200 : 503);
  });

  api.get('/metrics', async (context) => {
    context.header('Content-Type', deps.metrics.contentType);
    return context.body(await deps.metrics.render(), 200);
  });
}
