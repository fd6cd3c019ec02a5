/** Which page an address names; pure */

export const PAGES = [
  'live',
  'calls',
  'agents',
  'numbers',
  'trunks',
  'analytics',
  'webhooks',
  'keys',
  'settings',
  'system',
  'setup',
  'login',
] as const;

export type PageName = (typeof PAGES)[number];

export interface Route {
  readonly page: PageName;
  /** What follows the page's name, such as a call's id; empty for the page itself. */
  readonly id: string;
  readonly query: URLSearchParams;
}

/** Reads `#/calls/call_1?status=failed`. An address that names no page is that of the calls. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [name = '', id = ''] = path.split('/', 2);
  const page = PAGES.find((known) => known === name) ?? 'calls';
  return { page, id: decoded(id), query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
