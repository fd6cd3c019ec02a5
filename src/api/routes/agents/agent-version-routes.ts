/** `/api/agents/{agentId}/versions`: the versions of an agent, one per change, and restoring one. */
import { z } from '@hono/zod-openapi';
import { requireKnownModel } from '../../../domain/agent/agent-rules.ts';
import {
  AGENT_VERSIONS_KEPT,
  type AgentVersion,
  restoreAgent,
} from '../../../domain/agent/agent-version.ts';
import { ServiceError } from '../../../domain/service-error.ts';
import { type ApiApp, type ApiDeps, changedBy, scopeOf } from '../../api-env.ts';
import { answerOnce } from '../../http/answer-once.ts';
import {
  jsonResponse,
  routesOf,
  TAKES_IF_MATCH,
  taggedResponse,
} from '../../http/describe-route.ts';
import { entityTag, requireMatch } from '../../http/entity-tag.ts';
import { existing } from '../../http/errors.ts';
import { agentSchema } from '../../schemas/agent-schemas.ts';
import { pageOf, pageQuerySchema } from '../../schemas/query-schemas.ts';
import { viewOf } from '../../serializers.ts';
import { requireKnownParts } from './agent-routes.ts';

const agentVersionSchema = z
  .object({
    version: z.int().openapi({ description: 'Counted from 1, which is the agent as it was made.' }),
    at: z.iso.datetime(),
    by: z
      .enum(['api', 'dashboard'])
      .openapi({ description: 'Whether a key of yours or a person at the dashboard changed it.' }),
    changed: z.array(z.string()).openapi({
      description:
        'The fields that differ from the version before, such as `greeting` or `settings.interruptible`; none for the first.',
    }),
    agent: agentSchema
      .pick({
        name: true,
        greeting: true,
        systemPrompt: true,
        voice: true,
        language: true,
        phoneNumber: true,
        tools: true,
        responsiveness: true,
        model: true,
        smsGateway: true,
        extract: true,
        successCriteria: true,
        calendar: true,
        settings: true,
        status: true,
      })
      .openapi('AgentContent', { description: 'As the agent was from then on.' }),
  })
  .openapi('AgentVersion');

const agentVersionPageSchema = pageOf(agentVersionSchema).openapi('AgentVersionPage', {
  description: `The newest ${AGENT_VERSIONS_KEPT} of an agent are kept.`,
});

/** A number that no version can have is one that there is not: 404, and not 400. */
const agentVersionPathSchema = z.object({
  agentId: z.string(),
  version: z.string().openapi({ type: 'integer', minimum: 1 }),
});

const readRoute = routesOf({ tag: 'Agents', scope: 'agents:read' });

const writeRoute = routesOf({ tag: 'Agents', scope: 'agents:write' });

const listRoute = readRoute('get', '/api/agents/{agentId}/versions', {
  operationId: 'listAgentVersions',
  summary: 'Lists what an agent was like after each change, newest first',
  description:
    'Making an agent keeps its first version, and every change and every restore that makes a difference keeps another, in one step with the change.',
  request: { query: pageQuerySchema },
  responses: { 200: jsonResponse('A page of versions.', agentVersionPageSchema) },
});

const restoreRoute = writeRoute('post', '/api/agents/{agentId}/versions/{version}/restore', {
  ...TAKES_IF_MATCH,
  operationId: 'restoreAgentVersion',
  summary: 'Makes an agent what it was in an earlier version',
  description:
    'Everything but `status` becomes what it was: an agent that is paused stays paused. The agent gets a new version; none is lost by going back.',
  request: { params: agentVersionPathSchema },
  responses: { 200: taggedResponse('The agent as it is now.', agentSchema) },
  errors: [412],
});

/** Adds `/api/agents/{agentId}/versions`, and the return to one. */
export function addAgentVersionRoutes(api: ApiApp, deps: ApiDeps): void {
  const { agents, agentVersions, clock, languageModels, numberOwners } = deps;

  api.openapi(listRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { limit, offset } = context.req.valid('query');
    const scope = scopeOf(context);
    existing(await agents.find(scope, agentId), 'agent');
    const { items: versions, total } = await agentVersions.list(scope, agentId, { limit, offset });
    const data = versions.map((version) => viewOf(agentVersionSchema, version));
    return context.json({ data, total, limit, offset }, 200);
  });

  api.openapi(restoreRoute, async (context) => {
    const { agentId, version } = context.req.valid('param');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const before = existing(await agents.find(scope, agentId), 'agent');
        requireMatch(context, before.updatedAt, 'the agent');
        const found = await agentVersions.find(scope, agentId, numberOf(version));
        const chosen = existingVersion(found);
        const { model, phoneNumber } = restoreAgent(before, chosen, clock.now());
        await requireKnownModel(model, before.model, languageModels);
        await numberOwners.requireOwn(before, phoneNumber, before.phoneNumber);
        return commit(async (stores) => {
          const agent = existing(await stores.agents.find(scope, agentId), 'agent');
          requireMatch(context, agent.updatedAt, 'the agent');
          const then = restoreAgent(agent, chosen, clock.now());
          await requireKnownParts(then, stores);
          await stores.agents.update(then, changedBy(context));
          const restored = await stores.agents.findWithUsage(scope, agentId, clock.now());
          return { status: 200, body: viewOf(agentSchema, existing(restored, 'agent')) };
        });
      },
      etag: ({ updatedAt }) => entityTag(updatedAt),
    });
  });
}

/** Version number in a text; 0, which no version has, where the text is no such number. */
function numberOf(text: string): number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
}

/** @throws {ServiceError} NOT_FOUND when there is none. */
function existingVersion(version: AgentVersion | undefined): AgentVersion {
  if (version === undefined) {
    throw new ServiceError(
      'NOT_FOUND',
      'Cannot find the version: the agent has none with this number, or has it no longer',
    );
  }
  return version;
}
