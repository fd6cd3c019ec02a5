/** `/` and `/assets/…`: the dashboard's page, which asks this server and nobody else. */

import type { ApiApp, ApiContext } from '../api/api-env.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Encoding, PageBody, PageFile, PageFiles } from './page-files.ts';

/** No inline script or style ever runs, whatever a call or a customer has written. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(self), payment=(), usb=()',
  Vary: 'Accept-Encoding',
};

/** The page names its assets by a hash of what is in them. */
const FOREVER = 'public, max-age=31536000, immutable';

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Offhook</title>
<h1>The dashboard has not been built</h1>
<p>Calls and the REST interface work without it. To build it, run <code>npm ci</code> and then <code>npm run build</code> in the
server's folder, and load this page again.</p>
<p><a href="docs">The REST interface</a></p>
</html>
`;

export function addPageRoutes(api: ApiApp, files: PageFiles): void {
  api.get('/', (context) => {
    const file = files.index();
    if (file !== undefined) return send(context, file, 'no-cache');
    const headers = { ...PAGE_HEADERS, 'Content-Type': 'text/html; charset=utf-8' };
    return context.body(NOT_BUILT, 404, headers);
  });

  api.get('/assets/:file', (context) => {
    const file = files.asset(context.req.param('file') ?? '');
    if (file === undefined) {
      throw new ServiceError(
        'NOT_FOUND',
        'Cannot find this file of the dashboard: reload the page',
      );
    }
    return send(context, file, FOREVER);
  });
}

function send(context: ApiContext, file: PageFile, cacheControl: string): Response {
  const [encoding, body] = bodyFor(context, file);
  const headers = { ...PAGE_HEADERS, 'Cache-Control': cacheControl, ETag: body.etag };
  if (isKnown(context.req.header('if-none-match'), body.etag)) {
    return context.body(null, 304, headers);
  }
  return context.body(body.bytes, 200, {
    ...headers,
    'Content-Type': file.type,
    'Content-Length': String(body.bytes.length),
    ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
  });
}

/** The shortest form that the client reads. */
function bodyFor(
  context: ApiContext,
  { plain, encoded }: PageFile,
): readonly [Encoding | undefined, PageBody] {
  const accepted = acceptedBy(context.req.header('accept-encoding') ?? '');
  for (const encoding of ['br', 'gzip'] as const) {
    const body = encoded[encoding];
    if (body !== undefined && accepted.includes(encoding)) return [encoding, body];
  }
  return [undefined, plain];
}

/** @see RFC 9110, 12.5.3: `q=0` means not at all */
function acceptedBy(header: string): readonly string[] {
  return header
    .toLowerCase()
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => (part.split(';')[0] ?? '').trim());
}

/** @see RFC 9110, 13.1.2: compared weakly, because a proxy may have made it weak */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
