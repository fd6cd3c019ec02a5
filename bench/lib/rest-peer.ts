/** What the peers of the rest benchmark do for each request: the same rows and writes, the same headers and bodies. Of rows read it makes objects, as one does with a framework. */

import { KeyCache } from '../../src/api/http/access.ts';
import { agentSchema, createdAgentSchema } from '../../src/api/schemas/agent-schemas.ts';
import {
  serializeCallCommon,
  serializeTranscriptEntry,
  viewOf,
} from '../../src/api/serializers.ts';
import type { Account } from '../../src/domain/account/account.ts';
import {
  ANONYMOUS_REQUESTS_AN_HOUR,
  requestsAnHour,
  windowOf,
} from '../../src/domain/account/rate-limit.ts';
import type { AgentSummary, Scope } from '../../src/domain/agent/agent.ts';
import { createAgent } from '../../src/domain/agent/agent-rules.ts';
import { LINK_LIFETIME_MS, recordingLink } from '../../src/domain/call/recording-link.ts';
import { type OutboundDraft, queueCall } from '../../src/domain/dialing/outbound-rules.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { LINK_SECRET, type RestWorld } from './rest-world.ts';

export interface Answer {
  readonly status: number;
  readonly body: object;
}

/** What is known of a request before its route is chosen. */
export interface Admission {
  readonly requestId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The authenticated client; undefined when `refusal` is set. */
  readonly caller: { readonly scope: Scope; readonly account: Account } | undefined;
  readonly refusal: Answer | undefined;
}

interface AgentBody {
  readonly name: string;
  readonly greeting: string;
  readonly systemPrompt: string;
}

const SECURITY_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Caches key and account for half a second, as our own interface does. */
export class RestPeer {
  readonly #world: RestWorld;
  readonly #keys: KeyCache;

  constructor(world: RestWorld) {
    this.#world = world;
    const { accounts, apiKeys } = world.store;
    this.#keys = new KeyCache({ accounts, apiKeys, clock: systemClock });
  }

  async admit(authorization: string | undefined, address: string): Promise<Admission> {
    const { rates, newId } = this.#world;
    const requestId = newId('req');
    const now = systemClock.now();
    const window = windowOf(now);
    const caller = await this.#callerOf(authorization);
    const limit =
      caller === undefined ? ANONYMOUS_REQUESTS_AN_HOUR : requestsAnHour(caller.account.plan);
    const subject =
      caller === undefined ? `address:${address}` : `account:${caller.account.id}:live`;
    const count = await rates.count(subject, window);
    const headers = {
      'X-Request-Id': requestId,
      'X-API-Version': '2026-11-21',
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(Math.max(0, limit - count)),
      'X-RateLimit-Reset': String(window.endsAt.getTime() / 1000),
      ...SECURITY_HEADERS,
    };
    if (count > limit) {
      const retry = { 'Retry-After': String((window.endsAt.getTime() - now.getTime()) / 1000) };
      const refusal = errorAnswer(429, 'RATE_LIMITED', requestId);
      return { requestId, headers: { ...headers, ...retry }, caller, refusal };
    }
    const refusal = caller === undefined ? errorAnswer(401, 'UNAUTHORIZED', requestId) : undefined;
    return { requestId, headers, caller, refusal };
  }

  async listAgents(scope: Scope, limit: number): Promise<Answer> {
    const page = await this.#world.store.agents.list(
      scope,
      { limit, offset: 0 },
      systemClock.now(),
    );
    const data = page.items.map(agentItemView);
    return { status: 200, body: { data, total: page.total, limit, offset: 0 } };
  }

  async showAgent(scope: Scope, agentId: string, requestId: string): Promise<Answer> {
    const agent = await this.#world.store.agents.findWithUsage(scope, agentId, systemClock.now());
    if (agent === undefined) return errorAnswer(404, 'AGENT_NOT_FOUND', requestId);
    return { status: 200, body: viewOf(agentSchema, agent) };
  }

  async listCalls(scope: Scope, limit: number): Promise<Answer> {
    const page = await this.#world.store.calls.list(scope, { limit, offset: 0 });
    const data = page.calls.map((call) => ({
      ...serializeCallCommon(call),
      hasTranscript: call.hasTranscript,
      hasRecording: call.recordingFile !== null,
    }));
    return { status: 200, body: { data, total: page.total, limit, offset: 0 } };
  }

  async showCall(scope: Scope, callId: string, requestId: string): Promise<Answer> {
    const { calls } = this.#world.store;
    const call = await calls.find(scope, callId);
    if (call === undefined) return errorAnswer(404, 'CALL_NOT_FOUND', requestId);
    const transcript = await calls.transcript(callId);
    const expiresAt = new Date(systemClock.now().getTime() + LINK_LIFETIME_MS);
    const link = { publicUrl: 'http://127.0.0.1', secret: LINK_SECRET, expiresAt };
    const recordingUrl = recordingLink(callId, link);
    const said =
      transcript.length === 0 ? {} : { transcript: transcript.map(serializeTranscriptEntry) };
    const { summary, metadata } = call;
    return {
      status: 200,
      body: { ...serializeCallCommon(call), ...said, summary, recordingUrl, metadata },
    };
  }

  async createAgent(scope: Scope, body: AgentBody): Promise<Answer> {
    const { store, newId } = this.#world;
    const agent = createAgent(body, { id: newId('agent'), scope, now: systemClock.now() });
    await store.agents.insert(agent);
    return { status: 201, body: viewOf(createdAgentSchema, agent) };
  }

  async startCall(
    { scope, account }: NonNullable<Admission['caller']>,
    draft: OutboundDraft & { readonly agentId: string },
  ): Promise<Answer> {
    const { store, newId, queue } = this.#world;
    const agent = await store.agents.find(scope, draft.agentId);
    if (agent === undefined) throw new Error(`Cannot find the agent "${draft.agentId}"`);
    const now = systemClock.now();
    const holderOf = (number: string) => store.agents.findByPhoneNumber(number);
    const ownerOf = async () => undefined;
    const facts = { id: newId('call'), now, agent, account, ownerOf, holderOf };
    const call = await queueCall(draft, { ...facts, hasTrunkFor: queue.hasTrunkFor });
    await store.calls.countQueued('live', 'outbound');
    await store.calls.insert(call, []);
    const createdAt = now.toISOString();
    return {
      status: 202,
      body: { callId: call.id, status: 'queued', estimatedStartTime: createdAt, createdAt },
    };
  }

  async #callerOf(authorization: string | undefined): Promise<Admission['caller']> {
    const key = authorization?.slice('Bearer '.length);
    if (key === undefined) return undefined;
    const caller = await this.#keys.callerOf(key);
    if (caller === undefined) return undefined;
    const { account, apiKey } = caller;
    return { scope: { accountId: account.id, environment: apiKey.environment }, account };
  }
}

function agentItemView(agent: AgentSummary) {
  const { id, name, status, voice, language, phoneNumber } = agent;
  return {
    id,
    name,
    status,
    voice,
    language,
    phoneNumber,
    totalCallsToday: agent.totalCallsToday,
    totalMinutesToday: agent.totalMinutesToday,
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
  };
}

/** The envelope of an error. */
export function errorAnswer(status: number, code: string, requestId: string): Answer {
  return { status, body: { error: { code, message: 'Cannot answer', status, requestId } } };
}
