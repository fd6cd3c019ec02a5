/** `/api/agents`: makes, lists, shows, changes and deletes agents; the checks of a change hold for drafts too. */

import type { Agent } from '../../../domain/agent/agent.ts';
import {
  type AgentPatch,
  createAgent,
  patchAgent,
  requireKnownModel,
  requireKnownSpeech,
  type SpeechChoice,
} from '../../../domain/agent/agent-rules.ts';
import { requireKnownCalendar } from '../../../domain/calendar/calendar.ts';
import { bodyFault } from '../../../domain/service-error.ts';
import { requireKnownGateway } from '../../../domain/sms/sms-gateway.ts';
import type { Stores } from '../../../domain/stores.ts';
import { requireKnownTools } from '../../../domain/tool/custom-tool.ts';
import { type ApiApp, type ApiDeps, changedBy, scopeOf } from '../../api-env.ts';
import { answerOnce } from '../../http/answer-once.ts';
import {
  jsonBody,
  pageResponse,
  routesOf,
  TAKES_IF_MATCH,
  taggedResponse,
} from '../../http/describe-route.ts';
import { entityTag, requireMatch } from '../../http/entity-tag.ts';
import { existing } from '../../http/errors.ts';
import {
  agentItemSchema,
  agentQuerySchema,
  agentSchema,
  createAgentSchema,
  createdAgentSchema,
  patchAgentSchema,
  patchedAgentSchema,
} from '../../schemas/agent-schemas.ts';
import { viewOf } from '../../serializers.ts';

const readRoute = routesOf({ tag: 'Agents', scope: 'agents:read' });

const writeRoute = routesOf({ tag: 'Agents', scope: 'agents:write' });

const listRoute = readRoute('get', '/api/agents', {
  operationId: 'listAgents',
  summary: 'Lists agents, newest first',
  request: { query: agentQuerySchema },
  responses: { 200: pageResponse('A page of agents.', 'AgentPage', agentItemSchema) },
});

const newRoute = writeRoute('post', '/api/agents', {
  operationId: 'createAgent',
  summary: 'Makes an agent',
  request: { body: jsonBody(createAgentSchema) },
  responses: { 201: taggedResponse('The agent was made and is active.', createdAgentSchema) },
});

const getRoute = readRoute('get', '/api/agents/{agentId}', {
  operationId: 'getAgent',
  summary: 'Shows an agent',
  responses: { 200: taggedResponse('Every field.', agentSchema) },
});

const patchRoute = writeRoute('patch', '/api/agents/{agentId}', {
  ...TAKES_IF_MATCH,
  operationId: 'updateAgent',
  summary: 'Changes the fields that the body has',
  request: { body: jsonBody(patchAgentSchema) },
  responses: { 200: taggedResponse('The agent was changed.', patchedAgentSchema) },
  errors: [409, 412, 422],
});

const deleteRoute = writeRoute('delete', '/api/agents/{agentId}', {
  ...TAKES_IF_MATCH,
  operationId: 'deleteAgent',
  summary: 'Deletes an agent; its calls stay readable',
  responses: { 204: { description: 'The agent is gone.' } },
  errors: [409, 412],
});

const freeNumberRoute = writeRoute('delete', '/api/agents/{agentId}/phone-number', {
  operationId: 'freePhoneNumber',
  summary: 'Releases the phone number of an agent',
  ...TAKES_IF_MATCH,
  responses: { 204: { description: 'The agent has no number.' } },
  errors: [412],
});

/** Adds `/api/agents`. */
export function addAgentRoutes(api: ApiApp, deps: ApiDeps): void {
  addAgentReads(api, deps);
  addAgentWrites(api, deps);
  addAgentRemovals(api, deps);
}

function addAgentReads(api: ApiApp, { agents, clock }: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    const { limit, offset, status } = context.req.valid('query');
    const query = { limit, offset, ...(status === 'all' ? {} : { status }) };
    const page = await agents.list(scopeOf(context), query, clock.now());
    const data = page.items.map((agent) => viewOf(agentItemSchema, agent));
    return context.json({ data, total: page.total, limit, offset }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const agent = existing(
      await agents.findWithUsage(scopeOf(context), agentId, clock.now()),
      'agent',
    );
    context.header('ETag', entityTag(agent.updatedAt));
    return context.json(viewOf(agentSchema, agent), 200);
  });
}

function addAgentWrites(api: ApiApp, deps: ApiDeps): void {
  const { agents, clock, languageModels, newId, numberOwners, voices } = deps;

  api.openapi(newRoute, async (context) => {
    const draft = context.req.valid('json');
    const scope = scopeOf(context);
    requireKnownSpeech(draft, voices);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const agent = createAgent(draft, { id: newId('agent'), scope, now: clock.now() });
        await requireKnownModel(agent.model, null, languageModels);
        await numberOwners.requireOwn(scope, agent.phoneNumber);
        return commit(async (stores) => {
          await requireKnownParts(agent, stores);
          await stores.agents.insert(agent, changedBy(context));
          return { status: 201, body: viewOf(createdAgentSchema, agent) };
        });
      },
      // A new agent has not been changed since it was made.
      etag: ({ createdAt }) => entityTag(createdAt),
    });
  });

  api.openapi(patchRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const patch = context.req.valid('json');
    const before = existing(await agents.find(scopeOf(context), agentId), 'agent');
    requireMatch(context, before.updatedAt, 'the agent');
    await requireOwnNumberAndModel(before, patch, deps);
    const changed = await deps.transaction(async (stores) => {
      const agent = existing(await stores.agents.find(before, agentId), 'agent');
      requireMatch(context, agent.updatedAt, 'the agent');
      const patched = await changedAgent(stores, { agent, patch }, deps);
      await stores.agents.update(patched, changedBy(context));
      return patched;
    });
    context.header('ETag', entityTag(changed.updatedAt));
    return context.json(viewOf(patchedAgentSchema, changed), 200);
  });
}

function addAgentRemovals(api: ApiApp, deps: ApiDeps): void {
  const { clock } = deps;

  api.openapi(freeNumberRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    await deps.transaction(async (stores) => {
      const agent = existing(await stores.agents.find(scopeOf(context), agentId), 'agent');
      requireMatch(context, agent.updatedAt, 'the agent');
      const changed = patchAgent(agent, { phoneNumber: null }, clock.now());
      await stores.agents.update(changed, changedBy(context));
    });
    return context.body(null, 204);
  });

  api.openapi(deleteRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const scope = scopeOf(context);
    await deps.transaction(async (stores) => {
      const agent = existing(await stores.agents.find(scope, agentId), 'agent');
      requireMatch(context, agent.updatedAt, 'the agent');
      await stores.agents.delete(scope, agentId);
    });
    return context.body(null, 204);
  });
}

/**
 * Runs the checks that cannot run inside a transaction: owner of the number, and whether the model server has the model. Comes
 * before `changedAgent`.
 *
 * @throws {ServiceError} as `patchAgent`; VALIDATION_ERROR when null stands for the number of an agent that has one, or the model
 * is unknown, UNPROCESSABLE when the number belongs to another account.
 */
export async function requireOwnNumberAndModel(
  agent: Agent,
  patch: AgentPatch,
  deps: Pick<ApiDeps, 'numberOwners' | 'languageModels' | 'clock'>,
): Promise<void> {
  const { numberOwners, languageModels, clock } = deps;
  requireNumberKept(patch, agent);
  const { phoneNumber } = patchAgent(agent, patch, clock.now());
  await requireKnownModel(patch.model, agent.model, languageModels);
  await numberOwners.requireOwn(agent, phoneNumber, agent.phoneNumber);
}

/**
 * The agent with the change; nothing is saved.
 *
 * @param stores of the transaction that saves it.
 * @throws {ServiceError} as `patchAgent`; VALIDATION_ERROR when voice, language, a tool, the gateway or the calendar is unknown.
 */
export async function changedAgent(
  stores: PartStores,
  { agent, patch }: { readonly agent: Agent; readonly patch: AgentPatch },
  { voices, clock }: Pick<ApiDeps, 'voices' | 'clock'>,
): Promise<Agent> {
  requireKnownSpeech(changedSpeech(patch, agent), voices);
  const changed = patchAgent(agent, patch, clock.now());
  await requireKnownParts(changed, stores);
  return changed;
}

type PartStores = Pick<Stores, 'customTools' | 'mcpServers' | 'smsGateways' | 'calendars'>;

/** @throws {ServiceError} VALIDATION_ERROR when a tool, the gateway or the calendar is unknown. */
export async function requireKnownParts(agent: Agent, stores: PartStores): Promise<void> {
  await requireKnownTools(agent.tools, agent, [stores.customTools, stores.mcpServers]);
  await requireKnownGateway(agent, agent, stores.smsGateways);
  await requireKnownCalendar(agent.calendar, agent, stores.calendars);
}

/** A voice or language that the agent has stays, even where the server no longer speaks it. */
function changedSpeech({ voice, language }: SpeechChoice, agent: Agent): SpeechChoice {
  return {
    voice: voice === agent.voice ? undefined : voice,
    language: language === agent.language ? undefined : language,
  };
}

/** @throws {ServiceError} VALIDATION_ERROR when null stands for the number of an agent that has one. */
function requireNumberKept({ phoneNumber }: AgentPatch, agent: Agent): void {
  if (phoneNumber !== null || agent.phoneNumber === null) return;
  const message = 'expected a number; DELETE /api/agents/{agentId}/phone-number takes it away';
  throw bodyFault('phoneNumber', message);
}
