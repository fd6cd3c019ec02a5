/** Requests to the interface as a server passes them on, for tests that need no connection. */
import type { HttpBindings } from '@hono/node-server';
import type { ApiApp } from '../../../src/api/api-env.ts';

/** @param remoteAddress that the request comes from. */
export async function askByFetch(
  api: Pick<ApiApp, 'fetch'>,
  request: Request,
  remoteAddress?: string,
): Promise<Response> {
  const incoming = { socket: { remoteAddress } } as HttpBindings['incoming'];
  return api.fetch(request, { incoming });
}
