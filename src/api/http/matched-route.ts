/** The routes that a request matched, as the role table and the audit log name them; pure */
import { matchedRoutes } from 'hono/route';
import type { ApiContext } from '../api-env.ts';

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
