/** `/api/openapi.json`: the interface's own description, for programs. */
import type { CheckedRoutes } from '../http/checked-routes.ts';
import type { Description } from '../openapi/description.ts';

export function addOpenApiRoutes(api: CheckedRoutes, document: () => Description): void {
  let text: string | undefined;
  api.get('/api/openapi.json', (context) => {
    text ??= JSON.stringify(document());
    return context.body(text, 200, { 'Content-Type': 'application/json' });
  });
}
