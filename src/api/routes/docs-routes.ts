/** `/docs`: the interface for people, from this server alone: no script, nothing from elsewhere. */
import { readFileSync } from 'node:fs';
import type { ApiApp, ApiContext } from '../api-env.ts';
import { docsPage } from '../docs/docs-page.ts';
import type { Description } from '../openapi/description.ts';

const STYLE = new URL('../docs/style.css', import.meta.url);

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The same for everybody, until the server is another version. */
const CACHE_SECONDS = 300;

export function addDocsRoutes(api: ApiApp, document: () => Description): void {
  let page: string | undefined;
  let style: string | undefined;

  api.get('/docs', (context) => {
    page ??= docsPage(document());
    context.header('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    return send(context, page, 'text/html');
  });

  // Not from the root: a proxy may have put all of this below a path of its own.
  api.get('/docs/', (context) => context.body(null, 308, { Location: '../docs' }));

  api.get('/docs/style.css', (context) => {
    style ??= readFileSync(STYLE, 'utf8');
    return send(context, style, 'text/css');
  });
}

function send(context: ApiContext, text: string, type: string): Response {
  context.header('Cache-Control', `public, max-age=${CACHE_SECONDS}`);
  return context.body(text, 200, { 'Content-Type': `${type}; charset=utf-8` });
}
