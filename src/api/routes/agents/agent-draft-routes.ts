/** `/api/agents/{agentId}/draft`: changes that are kept without being live, and making them live. */
import { z } from '@hono/zod-openapi';
import type { Agent, Scope } from '../../../domain/agent/agent.ts';
import { existingDraft, type SavedDraft } from '../../../domain/agent/agent-version.ts';
import { laterThan } from '../../../domain/ids.ts';
import { ServiceError } from '../../../domain/service-error.ts';
import type { Stores } from '../../../domain/stores.ts';
import { type ApiApp, type ApiContext, type ApiDeps, changedBy, scopeOf } from '../../api-env.ts';
import { answerOnce } from '../../http/answer-once.ts';
import { jsonBody, routesOf, TAKES_IF_MATCH, taggedResponse } from '../../http/describe-route.ts';
import { entityTag, requireTag } from '../../http/entity-tag.ts';
import { existing } from '../../http/errors.ts';
import { agentSchema, patchAgentSchema } from '../../schemas/agent-schemas.ts';
import { viewOf } from '../../serializers.ts';
import { changedAgent, requireOwnNumberAndModel } from './agent-routes.ts';

const draftSchema = z
  .object({
    changes: patchAgentSchema,
    basedOnAt: z.iso.datetime().openapi({
      description:
        '`updatedAt` of the agent that the draft was saved for. Another one of the agent now means that it was changed since.',
    }),
    by: z
      .enum(['api', 'dashboard'])
      .openapi({ description: 'Whether a key of yours or a person at the dashboard saved it.' }),
    updatedAt: z.iso.datetime(),
  })
  .openapi('AgentDraft', { description: 'Changes to an agent that are not live.' });

const readRoute = routesOf({ tag: 'Agents', scope: 'agents:read' });

const writeRoute = routesOf({ tag: 'Agents', scope: 'agents:write' });

const getRoute = readRoute('get', '/api/agents/{agentId}/draft', {
  operationId: 'getAgentDraft',
  summary: 'Shows the draft of an agent',
  description:
    '404 `NOT_FOUND` when it has none. The `ETag` changes with the draft and with the agent.',
  responses: { 200: taggedResponse('What publishing changes.', draftSchema) },
});

const saveRoute = writeRoute('put', '/api/agents/{agentId}/draft', {
  ...TAKES_IF_MATCH,
  operationId: 'saveAgentDraft',
  summary: 'Saves changes without making them live',
  description:
    'Takes and checks what `PATCH /api/agents/{agentId}` does, and replaces the draft before. Calls, campaigns and the sandbox use the agent as it is. ' +
    '`If-Match` takes the `ETag` of the draft, or of the agent where it has no draft.',
  request: { body: jsonBody(patchAgentSchema) },
  responses: { 200: taggedResponse('The draft was saved.', draftSchema) },
  errors: [409, 412, 422],
});

const deleteRoute = writeRoute('delete', '/api/agents/{agentId}/draft', {
  ...TAKES_IF_MATCH,
  operationId: 'deleteAgentDraft',
  summary: 'Discards the draft of an agent',
  responses: { 204: { description: 'The agent has no draft.' } },
  errors: [412],
});

const publishRoute = writeRoute('post', '/api/agents/{agentId}/draft/publish', {
  ...TAKES_IF_MATCH,
  operationId: 'publishAgentDraft',
  summary: 'Makes the draft of an agent live',
  description:
    'Changes the agent as `PATCH` would, as one version, and deletes the draft, in one step. 412 when the agent was changed since the draft was saved, ' +
    'unless `If-Match` has the newest `ETag` of the agent or of the draft.',
  responses: { 200: taggedResponse('The agent as it is now.', agentSchema) },
  errors: [412],
});

/** An agent, and its draft where it has one. */
interface Edited {
  readonly agent: Agent;
  readonly draft: SavedDraft | undefined;
}

/** Adds `/api/agents/{agentId}/draft`: saved changes that are not live yet. */
export function addAgentDraftRoutes(api: ApiApp, deps: ApiDeps): void {
  addDraftReads(api, deps);
  addDraftWrites(api, deps);
  addPublishing(api, deps);
}

function addDraftReads(api: ApiApp, deps: ApiDeps): void {
  api.openapi(getRoute, async (context) => {
    const { agent, draft } = await editedOf(deps, scopeOf(context), context.req.valid('param'));
    const found = existingDraft(draft);
    context.header('ETag', draftTag(agent, found));
    return context.json(viewOf(draftSchema, found), 200);
  });
}

function addDraftWrites(api: ApiApp, deps: ApiDeps): void {
  const { clock } = deps;

  api.openapi(saveRoute, async (context) => {
    const path = context.req.valid('param');
    const changes = context.req.valid('json');
    const scope = scopeOf(context);
    const before = await editedOf(deps, scope, path);
    requireSeen(context, before);
    await requireOwnNumberAndModel(before.agent, changes, deps);
    const { agent, draft } = await deps.transaction(async (stores) => {
      const edited = await editedOf(stores, scope, path);
      requireSeen(context, edited);
      const { agent } = edited;
      const wanted = await changedAgent(stores, { agent, patch: changes }, deps);
      await stores.agents.requireFreeNumber(wanted);
      const draft = {
        changes,
        basedOnAt: agent.updatedAt,
        by: changedBy(context),
        updatedAt: laterThan(edited.draft?.updatedAt ?? agent.updatedAt, clock.now()),
      };
      await stores.agentDrafts.save(agent.id, draft);
      return { agent, draft };
    });
    context.header('ETag', draftTag(agent, draft));
    return context.json(viewOf(draftSchema, draft), 200);
  });

  api.openapi(deleteRoute, async (context) => {
    const scope = scopeOf(context);
    const path = context.req.valid('param');
    await deps.transaction(async (stores) => {
      const edited = await editedOf(stores, scope, path);
      existingDraft(edited.draft);
      requireSeen(context, edited);
      await stores.agentDrafts.delete(edited.agent.id);
    });
    return context.body(null, 204);
  });
}

function addPublishing(api: ApiApp, deps: ApiDeps): void {
  const { clock } = deps;

  api.openapi(publishRoute, async (context) => {
    const path = context.req.valid('param');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const before = await editedOf(deps, scope, path);
        const checked = publishable(context, before);
        await requireOwnNumberAndModel(before.agent, checked.changes, deps);
        return commit(async (stores) => {
          const edited = await editedOf(stores, scope, path);
          const { changes: patch, updatedAt } = publishable(context, edited);
          // Whose the number is was checked of the other one.
          if (updatedAt.getTime() !== checked.updatedAt.getTime()) throw outdated(updatedAt);
          const { agent } = edited;
          const published = await changedAgent(stores, { agent, patch }, deps);
          await stores.agents.update(published, changedBy(context));
          await stores.agentDrafts.delete(agent.id);
          const now = await stores.agents.findWithUsage(scope, agent.id, clock.now());
          return { status: 200, body: viewOf(agentSchema, existing(now, 'agent')) };
        });
      },
      etag: ({ updatedAt }) => entityTag(updatedAt),
    });
  });
}

/** @throws {ServiceError} AGENT_NOT_FOUND when there is no such agent. */
async function editedOf(
  stores: Pick<Stores, 'agents' | 'agentDrafts'>,
  scope: Scope,
  { agentId }: { readonly agentId: string },
): Promise<Edited> {
  const agent = existing(await stores.agents.find(scope, agentId), 'agent');
  return { agent, draft: await stores.agentDrafts.find(scope, agentId) };
}

/** Names both versions: a draft holds the differences from its agent, so that a change of either changes the draft. */
function draftTag(agent: Agent, { updatedAt }: SavedDraft): string {
  return `"${agent.updatedAt.toISOString()}/${updatedAt.toISOString()}"`;
}

/** @throws {ServiceError} PRECONDITION_FAILED when `If-Match` names an earlier state of the draft, or of the agent without one. */
function requireSeen(context: ApiContext, { agent, draft }: Edited): void {
  const tag = draft === undefined ? entityTag(agent.updatedAt) : draftTag(agent, draft);
  const updatedAt = draft === undefined ? agent.updatedAt : latest(agent, draft);
  requireTag(context, { tags: [tag], updatedAt, what: 'the draft' });
}

/**
 * The draft, where it may go live.
 *
 * @throws {ServiceError} NOT_FOUND when there is none, PRECONDITION_FAILED when the agent was changed since it was saved, and
 * `If-Match` names neither the agent nor the draft as they are now.
 */
function publishable(context: ApiContext, edited: Edited): SavedDraft {
  const { agent } = edited;
  const draft = existingDraft(edited.draft);
  const tags = [draftTag(agent, draft), entityTag(agent.updatedAt)] as const;
  requireTag(context, { tags, updatedAt: latest(agent, draft), what: 'the draft' });
  const isOfNow = draft.basedOnAt.getTime() === agent.updatedAt.getTime();
  if (context.req.header('if-match') === undefined && !isOfNow) {
    context.header('ETag', tags[0]);
    throw outdated(agent.updatedAt);
  }
  return draft;
}

function outdated(changedAt: Date): ServiceError {
  return new ServiceError(
    'PRECONDITION_FAILED',
    `Cannot publish the draft: the agent or the draft was changed at ${changedAt.toISOString()}`,
  );
}

function latest(agent: Agent, draft: SavedDraft): Date {
  return new Date(Math.max(agent.updatedAt.getTime(), draft.updatedAt.getTime()));
}
