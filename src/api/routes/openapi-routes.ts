/** `/api/openapi.json`: the interface's own description, for programs. */
import type { ApiApp } from '../api-env.ts';
import type { ApiDocument } from '../openapi/api-document.ts';

export function addOpenApiRoutes(api: ApiApp, document: () => ApiDocument): void {
  let text: string | undefined;
  api.get('/api/openapi.json', (context) => {
    text ??= JSON.stringify(document());
    return context.body(text, 200, { 'Content-Type': 'application/json' });
  });
}
