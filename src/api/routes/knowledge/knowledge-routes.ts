/** `/api/agents/{agentId}/knowledge`: documents that an agent answers from. */
import { KNOWLEDGE_LIMITS } from '../../../domain/knowledge/knowledge.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../../api-env.ts';
import { describeRoute } from '../../http/describe-route.ts';
import { existing } from '../../http/errors.ts';
import { agentPathSchema } from '../../schemas/agent-schemas.ts';
import { jsonResponse } from '../../schemas/json-content.ts';
import {
  knowledgeBody,
  knowledgeDocumentSchema,
  knowledgePageSchema,
  knowledgePathSchema,
  knowledgeQuerySchema,
  knowledgeTextSchema,
  knowledgeVersionQuerySchema,
  knowledgeVersionSchema,
} from '../../schemas/knowledge-schemas.ts';
import { viewOf } from '../../serializers/view-of.ts';
import { addDocument } from './add-document.ts';

const LIMITS = KNOWLEDGE_LIMITS;

const listRoute = describeRoute({
  tag: 'Knowledge',
  scope: 'agents:read',
  operationId: 'listKnowledge',
  method: 'get',
  path: '/api/agents/{agentId}/knowledge',
  summary: "Lists an agent's documents by name",
  description: 'Each in its newest version, without its text.',
  request: { params: agentPathSchema, query: knowledgeQuerySchema },
  responses: { 200: jsonResponse('A page of documents.', knowledgePageSchema) },
});

const addRoute = describeRoute({
  tag: 'Knowledge',
  scope: 'agents:write',
  operationId: 'addKnowledge',
  method: 'post',
  path: '/api/agents/{agentId}/knowledge',
  summary: 'Adds a document, or a new version of one',
  description: `Passages that share words with what a caller says go into the prompt of the language model; \`knowledge\` on the timeline of the call names them. A call finds documents that the agent had when it began, in their newest version. The name of a document makes the next version of it, of which the last ${LIMITS.versionsKept} are kept; the same text again changes nothing. An agent has at most ${LIMITS.agentDocumentsMax} documents, ${LIMITS.agentCharsMax} characters and ${LIMITS.agentPassagesMax} passages (409).`,
  request: { params: agentPathSchema, body: knowledgeBody },
  responses: { 201: jsonResponse('The document as it is now.', knowledgeDocumentSchema) },
});

const getRoute = describeRoute({
  tag: 'Knowledge',
  scope: 'agents:read',
  operationId: 'getKnowledge',
  method: 'get',
  path: '/api/agents/{agentId}/knowledge/{documentId}',
  summary: 'Gets a document with its text and its versions',
  description: 'A version that is kept no longer is 404.',
  request: { params: knowledgePathSchema, query: knowledgeVersionQuerySchema },
  responses: { 200: jsonResponse('The document.', knowledgeTextSchema) },
});

const deleteRoute = describeRoute({
  tag: 'Knowledge',
  scope: 'agents:write',
  operationId: 'deleteKnowledge',
  method: 'delete',
  path: '/api/agents/{agentId}/knowledge/{documentId}',
  summary: 'Deletes a document with all its versions',
  description: 'Nothing finds it from then on, calls in progress included.',
  request: { params: knowledgePathSchema },
  responses: { 204: { description: 'The document is gone.' } },
});

export function addKnowledgeRoutes(api: ApiApp, deps: ApiDeps): void {
  addKnowledgeReads(api, deps);
  addKnowledgeWrites(api, deps);
}

function addKnowledgeReads(api: ApiApp, { agents, knowledge }: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { limit, offset } = context.req.valid('query');
    const scope = scopeOf(context);
    existing(await agents.find(scope, agentId), 'agent');
    const { documents, total } = await knowledge.list(scope, agentId, { limit, offset });
    const data = documents.map((document) => viewOf(knowledgeDocumentSchema, document));
    return context.json({ data, total, limit, offset }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { version } = context.req.valid('query');
    const found = await knowledge.find(scopeOf(context), context.req.valid('param'), version);
    const { document, text, versions } = existing(found, 'document');
    const views = versions.map((one) => viewOf(knowledgeVersionSchema, one));
    const view = viewOf(knowledgeDocumentSchema, document);
    return context.json({ ...view, text, versions: views }, 200);
  });
}

function addKnowledgeWrites(api: ApiApp, deps: ApiDeps): void {
  api.openapi(addRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { name, text } = context.req.valid('json');
    const draft = {
      agentId,
      name,
      mediaType: 'text/markdown',
      readText: async () => text,
    } as const;
    return addDocument(context, deps, draft);
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
