/** `/`, `/docs` and `/assets/…`: the dashboard and the API reference, which load from this server alone. */

import type { ApiApp, ApiContext } from '../api/api-env.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Encoding, PageBody, PageFile, PageFiles } from './page-files.ts';

/** Sources that the dashboard may load from: this server. Inline scripts and styles are blocked. */
const DASHBOARD_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'media-src': "'self' blob:",
  'connect-src': "'self'",
  'font-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
};

/** Scalar puts style elements of its theme into the page. */
const DOCS_POLICY = { ...DASHBOARD_POLICY, 'style-src': "'self' 'unsafe-inline'" };

const PAGE_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(self), payment=(), usb=()',
  Vary: 'Accept-Encoding',
};

/** The page names its assets by a hash of what is in them. */
const FOREVER = 'public, max-age=31536000, immutable';

export function addPageRoutes(api: ApiApp, files: PageFiles): void {
  addPage(api, '/', () => files.page('index.html'), {
    title: 'dashboard',
    policy: DASHBOARD_POLICY,
  });
  addPage(api, '/docs', () => files.page('docs.html'), {
    title: 'API reference',
    policy: DOCS_POLICY,
  });
  // Relative: a proxy may serve all of this under a path of its own.
  api.get('/docs/', (context) => context.body(null, 308, { Location: '../docs' }));

  api.get('/assets/:file', (context) => {
    const file = files.asset(context.req.param('file') ?? '');
    if (file === undefined) {
      throw new ServiceError('NOT_FOUND', 'Cannot find this file of the page: reload the page');
    }
    return sendPage(context, file, { cacheControl: FOREVER, policy: DASHBOARD_POLICY });
  });
}

type Policy = Readonly<Record<string, string>>;

function addPage(
  api: ApiApp,
  path: string,
  read: () => PageFile | undefined,
  { title, policy }: { readonly title: string; readonly policy: Policy },
): void {
  api.get(path, (context) => {
    const file = read();
    if (file !== undefined) return sendPage(context, file, { cacheControl: 'no-cache', policy });
    return sendNotBuilt(context, { title, policy });
  });
}

/** Answers 404 with a page that says how to build what is missing. */
export function sendNotBuilt(
  context: ApiContext,
  { title, policy }: { readonly title: string; readonly policy: Policy },
): Response {
  const headers = { ...headersWith(policy), 'Content-Type': 'text/html; charset=utf-8' };
  return context.body(notBuilt(title), 404, headers);
}

function notBuilt(title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Offhook</title>
<h1>The ${title} has not been built</h1>
<p>Calls and the REST interface work without it. To build it, run <code>npm ci</code> and then <code>npm run build</code> in the
server's folder, and load this page again.</p>
<p>The OpenAPI document: <code>/api/openapi.json</code></p>
</html>
`;
}

function headersWith(policy: Policy): Record<string, string> {
  const directives = Object.entries(policy).map((directive) => directive.join(' '));
  return { ...PAGE_HEADERS, 'Content-Security-Policy': directives.join('; ') };
}

/** Sends a built file: packed where the client reads that, 304 where it has it. */
export function sendPage(
  context: ApiContext,
  file: PageFile,
  { cacheControl, policy }: { readonly cacheControl: string; readonly policy: Policy },
): Response {
  const [encoding, body] = bodyFor(context, file);
  const headers = { ...headersWith(policy), 'Cache-Control': cacheControl, ETag: body.etag };
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
