/** `/healthz`, `/readyz` and `/metrics`: for whoever runs the server, without a key. */
import type { Hono } from 'hono';
import type { ApiDeps, ApiEnv } from '../api-env.ts';

export function addHealthRoutes(
  api: Hono<ApiEnv>,
  deps: Pick<ApiDeps, 'readiness' | 'metrics'>,
): void {
  // Says only that the process answers; whoever restarts on it must not be fooled by a carrier that is away.
  api.get('/healthz', (context) => context.json({ status: 'ok' }, 200));

  api.get('/readyz', (context) => {
    const report = deps.readiness();
    return context.json(report, report.status === 'ready' ? 200 : 503);
  });

  api.get('/metrics', async (context) => {
    context.header('Content-Type', deps.metrics.contentType);
    return context.body(await deps.metrics.render(), 200);
  });
}
