/** `/api/agents/{agentId}/knowledge`: documents that an agent answers from. */
import { KNOWLEDGE_LIMITS } from '../../domain/knowledge/knowledge.ts';
import { passagesOf } from '../../domain/knowledge/passages.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { agentPathSchema } from '../schemas/agent-schemas.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import {
  addKnowledgeSchema,
  knowledgeDocumentSchema,
  knowledgePageSchema,
  knowledgePathSchema,
  knowledgeQuerySchema,
} from '../schemas/knowledge-schemas.ts';
import { viewOf } from '../serializers/view-of.ts';

const listRoute = describeRoute({
  tag: 'Knowledge',
  scope: 'agents:read',
  operationId: 'listKnowledge',
  method: 'get',
  path: '/api/agents/{agentId}/knowledge',
  summary: 'Lists the documents of an agent by name',
  description: 'The newest version of each.',
  request: { params: agentPathSchema, query: knowledgeQuerySchema },
  responses: { 200: jsonResponse('A page of documents.', knowledgePageSchema) },
});

const addRoute = describeRoute({
  tag: 'Knowledge',
  scope: 'agents:write',
  operationId: 'addKnowledge',
  method: 'post',
  path: '/api/agents/{agentId}/knowledge',
  summary: 'Adds a document, or the next version of one',
  description: `At most ${KNOWLEDGE_LIMITS.documentsMax} documents an agent (409). Passages that share words with what the caller says go into the prompt of the language model.`,
  request: { params: agentPathSchema, body: jsonBody(addKnowledgeSchema) },
  responses: { 201: jsonResponse('The document is searched from now on.', knowledgeDocumentSchema) },
  errors: [409],
});

const deleteRoute = describeRoute({
  tag: 'Knowledge',
  scope: 'agents:write',
  operationId: 'deleteKnowledge',
  method: 'delete',
  path: '/api/agents/{agentId}/knowledge/{documentId}',
  summary: 'Deletes a document with all its versions',
  request: { params: knowledgePathSchema },
  responses: { 204: { description: 'The document is gone.' } },
});

export function addKnowledgeRoutes(api: ApiApp, deps: ApiDeps): void {
  const { agents, clock, knowledge, newId } = deps;

  api.openapi(listRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { limit, offset } = context.req.valid('query');
    const scope = scopeOf(context);
    existing(await agents.find(scope, agentId), 'agent');
    const { documents, total } = await knowledge.list(scope, agentId, { limit, offset });
    const data = documents.map((document) => viewOf(knowledgeDocumentSchema, document));
    return context.json({ data, total, limit, offset }, 200);
  });

  api.openapi(addRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { name, text } = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const passages = passagesOf(text);
        return commit(async (stores) => {
          existing(await stores.agents.find(scope, agentId), 'agent');
          const facts = { id: newId('doc'), agentId, name, createdAt: clock.now() };
          const document = { ...scope, ...facts, mediaType: 'text/markdown' as const };
          const saved = await stores.knowledge.insert(document, { text, passages });
          return { status: 201, body: viewOf(knowledgeDocumentSchema, saved) };
        });
      },
    });
  });

  api.openapi(deleteRoute, async (context) => {
    const { agentId, documentId } = context.req.valid('param');
    const scope = scopeOf(context);
    await deps.transaction(async (stores) => {
      const isGone = await stores.knowledge.delete(scope, agentId, documentId);
      existing(isGone || undefined, 'document');
    });
    return context.body(null, 204);
  });
}
