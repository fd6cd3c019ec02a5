/** What every request and response has: its id, the routes that it matched, the headers, the log line and metrics. */

import { matchedRoutes } from 'hono/route';
import type { ApiContext, ApiDeps, Guard } from '../api-env.ts';

/** Changes when a response changes in a way that a customer's program may notice. */
export const API_VERSION = '2026-11-21';

/** Default `Retry-After` of a 503: database locks and short shortages last about as long. */
const RETRY_AFTER_SECONDS = 5;

const HEADERS = {
  'X-API-Version': API_VERSION,
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** Over plain HTTP browsers ignore it, and a proxy may pass it on to where it is not true. */
const HTTPS_HEADERS = { ...HEADERS, 'Strict-Transport-Security': 'max-age=31536000' } as const;

/**
 * Gives each request its id, and reports it to log and metrics when it is answered. Routes set their own
 * Content-Security-Policy and Cache-Control.
 */
export function identity(
  deps: Pick<ApiDeps, 'clock' | 'newId' | 'log' | 'metrics' | 'publicUrl'>,
): Guard {
  const headers = Object.entries(deps.publicUrl.startsWith('https:') ? HTTPS_HEADERS : HEADERS);
  return async (context, next) => {
    const startMs = deps.clock.nowMs();
    const requestId = deps.newId('req');
    context.set('requestId', requestId);
    context.set('bodyText', '');
    context.set('caller', undefined);
    context.set('user', undefined);
    context.set('auditResource', undefined);
    context.set('errorCode', undefined);
    context.set('retryAfterSeconds', RETRY_AFTER_SECONDS);
    context.header('X-Request-Id', requestId);
    for (const [name, value] of headers) context.header(name, value);
    await next();
    report(context, deps, deps.clock.nowMs() - startMs);
  };
}

function report(
  context: ApiContext,
  { log, metrics }: Pick<ApiDeps, 'log' | 'metrics'>,
  durationMs: number,
): void {
  const { method } = context.req;
  const { status } = context.res;
  const answered = { requestId: context.get('requestId'), method, route: routeOf(context), status };
  metrics.httpRequest({ ...answered, durationMs });
  // Probes come every few seconds and would bury the rest.
  const level = answered.route.startsWith('/api') ? 'info' : 'debug';
  log[level]({ ...answered, durationMs }, 'http: answered');
}

/** The pattern that matched, such as `/api/calls/{callId}`: ids never become labels. `unmatched` where none did. */
export function routeOf(context: ApiContext): string {
  return patternsOf(context).at(-1)?.path ?? 'unmatched';
}

/** Every route that matched, as `GET /api/calls/{callId}`: HEAD counts as the GET that answers it. */
export function routesOf(context: ApiContext): readonly string[] {
  return patternsOf(context).map(({ method, path }) => `${method} ${path}`);
}

function patternsOf(context: ApiContext) {
  return matchedRoutes(context)
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({ method, path: path.replace(/:(\w+)/g, '{$1}') }));
}
