/** The requests of the rest benchmark. */
import { FROM_NUMBER, KEY, SPENT_KEY } from './rest-world.ts';

export interface RestRequest {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key: string;
  readonly status: number;
  readonly body?: object;
  /** Most CPU that ours may take, as a share of Fastify's. */
  readonly fastifyMax?: number;
  /** Requests that a run sends, where a usual run would leave too much behind. */
  readonly requests?: number;
  /** Whether each leaves a call in the queue. */
  readonly isQueued?: boolean;
}

const CALL = `call_${'500'.padStart(24, '0')}`;

const UNKNOWN_KEY = `svc_live_${'0'.repeat(32)}`;

const AGENT_BODY = {
  name: 'Front desk',
  greeting: 'Good morning, how can I help?',
  systemPrompt: 'You answer calls for a hotel. Be brief and friendly.',
  voice: 'en-US-JennyNeural',
  language: 'en-US',
  tools: ['transfer_call'],
  settings: { maxDurationSeconds: 300, silenceTimeoutSeconds: 15, interruptible: true },
} as const;

export const REQUESTS: readonly RestRequest[] = [
  get('list agents', '/api/agents?limit=20', {}),
  get('show agent', '/api/agents/agent_7', {}),
  get('list calls', '/api/calls?limit=20', { fastifyMax: 1 }),
  get('show call', `/api/calls/${CALL}`, {}),
  post('make agent', '/api/agents', AGENT_BODY, { status: 201, requests: 4000 }),
  post(
    'start call',
    '/api/calls/outbound',
    { agentId: 'agent_7', to: '+12025550187', from: FROM_NUMBER, metadata: { order: 7 } },
    { status: 202, isQueued: true },
  ),
  get('401', '/api/agents', { key: UNKNOWN_KEY, status: 401 }),
  get('404', '/api/agents/agent_unknown', { status: 404 }),
  get('429', '/api/agents', { key: SPENT_KEY, status: 429 }),
];

function get(name: string, path: string, more: Partial<RestRequest>): RestRequest {
  return { name, method: 'GET', path, key: KEY, status: 200, ...more };
}

function post(
  name: string,
  path: string,
  body: object,
  more: Partial<RestRequest> & { readonly status: number },
): RestRequest {
  return { name, method: 'POST', path, body, key: KEY, ...more };
}
