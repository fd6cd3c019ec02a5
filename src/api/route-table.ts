/** Which methods a path knows, for the `Allow` header. */
import type { Hono } from 'hono';
import type { ApiEnv } from './api-env.ts';

/** Reads the routes once, at the first question, when all have been added. */
export function methodsByPath(api: Hono<ApiEnv>): (path: string) => readonly string[] {
  let table:
    | readonly { readonly method: string; readonly path: string; readonly pattern: RegExp }[]
    | undefined;
  return (path) => {
    table ??= api.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => ({ method, path, pattern: patternOf(path) }));
    const found = table.filter(({ pattern }) => pattern.test(path));
    // A path of its own is no id that another path may have there, such as `/api/calls/outbound`.
    const own = found.filter((route) => route.path === path);
    const methods = (own.length > 0 ? own : found).map(({ method }) => method);
    // Hono answers HEAD wherever it answers GET.
    if (methods.includes('GET')) methods.push('HEAD');
    return [...new Set(methods)].sort();
  };
}

function patternOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(/:\w+/g, '[^/]+')}$`);
}
