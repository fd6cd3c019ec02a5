/** `/healthz`, `/readyz` and `/metrics`: for the operator, without a key. */
import type { Hono } from 'hono';
import type { ApiDeps, ApiEnv } from '../api-env.ts';

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
