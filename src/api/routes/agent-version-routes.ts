/** `/api/agents/{agentId}/versions`: what an agent was like after each change, and going back to it. */

import type { Agent, AgentWithUsage } from '../../domain/agent/agent.ts';
import { type AgentVersion, restoreAgent } from '../../domain/agent/agent-version.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiDeps, changedBy, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { entityTag, requireMatch } from '../http/entity-tag.ts';
import { noBody } from '../http/no-body.ts';
import { TAKES_IF_MATCH, WITH_ETAG } from '../openapi/common-components.ts';
import { agentPathSchema, agentSchema } from '../schemas/agent-schemas.ts';
import {
  agentVersionPageSchema,
  agentVersionPathSchema,
  agentVersionQuerySchema,
} from '../schemas/agent-version-schemas.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { noQuery } from '../schemas/no-query-schema.ts';
import { serializeAgent } from '../serializers/agent-serializer.ts';
import { serializeAgentVersion } from '../serializers/agent-version-serializer.ts';
import { existingAgent } from './agent-routes.ts';

const shared = { tags: ['Agents'] };

const listRoute = describeRoute({
  ...shared,
  security: [{ bearer: [] }],
  middleware: [requireScope('agents:read')],
  operationId: 'listAgentVersions',
  method: 'get',
  path: '/api/agents/{agentId}/versions',
  summary: 'Lists what an agent was like after each change, newest first',
  description:
    'Making an agent keeps its first version, and every change and every restore that makes a difference keeps another, in one step with the change.',
  request: { params: agentPathSchema, query: agentVersionQuerySchema },
  responses: {
    200: jsonResponse('A page of versions.', agentVersionPageSchema),
    ...errorResponses(400, 404),
  },
});

const restoreRoute = describeRoute({
  ...shared,
  security: [{ bearer: [] }],
  middleware: [requireScope('agents:write'), noBody],
  ...TAKES_IF_MATCH,
  operationId: 'restoreAgentVersion',
  method: 'post',
  path: '/api/agents/{agentId}/versions/{version}/restore',
  summary: 'Makes an agent what it was in an earlier version',
  description:
    'Everything but `status` becomes what it was: an agent that is paused stays paused. The agent gets a new version; none is lost by going back.',
  request: { params: agentVersionPathSchema, query: noQuery },
  responses: {
    200: { ...jsonResponse('The agent as it is now.', agentSchema), ...WITH_ETAG },
    ...errorResponses(400, 404, 409, 412, 422),
  },
});

export function addAgentVersionRoutes(api: ApiApp, deps: ApiDeps): void {
  const { agents, agentVersions, clock, numberOwners } = deps;

  api.openapi(listRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { limit, offset } = context.req.valid('query');
    const scope = scopeOf(context);
    existingAgent<Agent>(await agents.find(scope, agentId));
    const { versions, total } = await agentVersions.list(scope, agentId, { limit, offset });
    return context.json({ data: versions.map(serializeAgentVersion), total, limit, offset }, 200);
  });

  api.openapi(restoreRoute, async (context) => {
    const { agentId, version } = context.req.valid('param');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const before = existingAgent<Agent>(await agents.find(scope, agentId));
        requireMatch(context, before.updatedAt, 'the agent');
        const found = await agentVersions.find(scope, agentId, numberOf(version));
        const chosen = existingVersion(found);
        const { phoneNumber } = restoreAgent(before, chosen, clock.now());
        await numberOwners.requireOwn(before, phoneNumber, before.phoneNumber);
        return commit(async (stores) => {
          const agent = existingAgent<Agent>(await stores.agents.find(scope, agentId));
          requireMatch(context, agent.updatedAt, 'the agent');
          await stores.agents.update(restoreAgent(agent, chosen, clock.now()), changedBy(context));
          const restored = await stores.agents.findWithUsage(scope, agentId, clock.now());
          return { status: 200, body: serializeAgent(existingAgent<AgentWithUsage>(restored)) };
        });
      },
      etag: ({ updatedAt }) => entityTag(updatedAt),
    });
  });
}

/** Of a text that is no such number, 0: there is no such version. */
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
