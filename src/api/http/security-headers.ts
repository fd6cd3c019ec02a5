/** Tells browsers to do nothing with our answers but show them; pure */

const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

const A_YEAR_SECONDS = 31_536_000;

/** Headers of every answer. A route that serves something else, such as a page, sets its own value of one. */
export function securityHeaders(options: {
  readonly publicUrl: string;
}): Readonly<Record<string, string>> {
  // Over plain HTTP a browser ignores it, and a proxy may pass it on to where it isn't true.
  const isHttps = options.publicUrl.startsWith('https:');
  const strict = { 'Strict-Transport-Security': `max-age=${A_YEAR_SECONDS}` };
  return { ...HEADERS, ...(isHttps ? strict : {}) };
}
