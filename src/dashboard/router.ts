/** Which page and environment an address names; pure */
import type { Environment } from './api-types.ts';

const PAGES = [
  'overview',
  'live',
  'calls',
  'campaigns',
  'agents',
  'tools',
  'knowledge',
  'calendars',
  'gateways',
  'numbers',
  'trunks',
  'analytics',
  'webhooks',
  'keys',
  'logs',
  'settings',
  'system',
  'models',
  'users',
  'audit-log',
  'setup',
  'login',
  'join',
] as const;

/** Placeholder of the name in the address of a new resource: no tool or calendar can have this name. */
export const NEW_ID = '+';

export type PageName = (typeof PAGES)[number];

interface Route {
  /** `missing` where the address names no page. */
  readonly page: PageName | 'missing';
  /** Rest of the path after the page's name, such as a call's id; empty for the page itself. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Undefined where the address leaves it open. */
  readonly environment: Environment | undefined;
}

/** Reads `#/calls/call_1?status=failed`. An empty address is that of the overview. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [name = '', id = ''] = path.split('/', 2);
  const page = PAGES.find((known) => known === (name || 'overview')) ?? 'missing';
  const parameters = new URLSearchParams(query);
  const environment = (['live', 'test'] as const).find(
    (known) => known === parameters.get('environment'),
  );
  return { page, id: decoded(id), query: parameters, environment };
}

/** The same address with the environment in it, so that a copied link shows the same thing to its reader. */
export function addressIn(hash: string, environment: Environment): string {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('environment', environment);
  return `#/${path === '' ? 'overview' : path}?${parameters}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
