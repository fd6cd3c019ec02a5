/** The OpenAPI document, for tests that look at every operation, on an interface that has nothing behind it. */
import { createApi } from '../../../src/api/api.ts';
import type { ApiDeps } from '../../../src/api/api-env.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { FakeClock } from '../time/fake-clock.ts';
import type { Description } from './openapi-description.ts';
import { askByFetch } from './web-face.ts';

/** An interface on nothing, for looking at what it has. */
export function createHollowApi() {
  const deps = {
    rates: { count: () => 1 },
    metrics: { httpRequest: () => undefined },
    newId: () => 'req_0',
    clock: new FakeClock(),
    log: silentLogger,
    requestLog: { add: () => undefined },
    publicUrl: 'https://voice.example',
    version: '1.2.3',
  };
  const api = createApi(deps as unknown as ApiDeps);
  const request = (path: string, init: RequestInit = {}) =>
    askByFetch(api, new Request(`http://localhost${path}`, init));
  return { api, request };
}

export async function readDescription(): Promise<Description> {
  const response = await createHollowApi().request('/api/openapi.json');
  return (await response.json()) as Description;
}
