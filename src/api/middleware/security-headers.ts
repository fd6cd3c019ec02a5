/** Tells browsers to do nothing with our answers but show them. */
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../api-env.ts';

const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

const A_YEAR_SECONDS = 31_536_000;

/** A route that serves something else, such as a page, sets its own value of a header. */
export function securityHeaders(options: {
  readonly publicUrl: string;
}): MiddlewareHandler<ApiEnv> {
  // Over plain HTTP a browser ignores it, and a proxy may pass it on to where it isn't true.
  const isHttps = options.publicUrl.startsWith('https:');
  const strict = { 'Strict-Transport-Security': `max-age=${A_YEAR_SECONDS}` };
  const headers = Object.entries({ ...HEADERS, ...(isHttps ? strict : {}) });
  return async (context, next) => {
    for (const [name, value] of headers) context.header(name, value);
    await next();
  };
}
