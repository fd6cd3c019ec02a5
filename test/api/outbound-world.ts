/** An interface with agents that may call, and the requests that ask them to. */
import type { Agent } from '../../src/domain/agent/agent.ts';
import type { Call } from '../../src/domain/call/call.ts';
import type { DialQueue } from '../../src/domain/dialing/outbound-rules.ts';
import { openTestApi, type RequestOptions, type TestApi } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';

export const PATH = '/api/calls/outbound';
export const FROM = '+390698765432';
export const TO = '+390612345678';

export const QUEUE: DialQueue = {
  isDraining: false,
  hasTrunkFor: (from) => from.startsWith('+3906'),
  estimatedStart: async () => new Date('2026-11-20T12:00:07.000Z'),
};

type Deps = Parameters<typeof openTestApi>[0];

/** An interface with an agent of each environment, and one of another account. */
export async function openWorld(deps: Deps = {}, options: Parameters<typeof openTestApi>[1] = {}) {
  const api = await openTestApi({ dialQueues: { live: QUEUE, test: QUEUE }, ...deps }, options);
  const add = (fields: Partial<Agent>) =>
    api.store.agents.insert(buildAgent({ accountId: 'acct_main', ...fields }));
  await add({ id: 'agent_live', phoneNumber: FROM });
  await add({ id: 'agent_mute' });
  await add({ id: 'agent_paused', status: 'paused', phoneNumber: '+390611111111' });
  await add({ id: 'agent_test', environment: 'test', phoneNumber: '+15550100009' });
  await add({ id: 'agent_foreign', accountId: 'acct_foreign', phoneNumber: '+390622222222' });
  return api;
}

export const start = (api: TestApi, body: object = {}, options: RequestOptions = {}) =>
  api.request('POST', PATH, { body: { agentId: 'agent_live', to: TO, ...body }, ...options });

export const queuedOf = (
  api: TestApi,
  environment: 'live' | 'test' = 'live',
): Promise<readonly Call[]> => api.store.calls.queued(environment, 'outbound', 1000);
