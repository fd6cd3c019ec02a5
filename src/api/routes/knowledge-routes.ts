/** `/api/agents/{agentId}/knowledge`: the documents of an agent, as JSON or as files; with their schemas. */

import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { z } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import {
  contentOf,
  KNOWLEDGE_LIMITS,
  KNOWLEDGE_TYPES,
  type KnowledgeDraft,
  type KnowledgeType,
} from '../../domain/knowledge/knowledge.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, scopeOf } from '../api-env.ts';
import { checkScope } from '../http/access.ts';
import { answerOnce } from '../http/answer-once.ts';
import { jsonBody, jsonResponse, pageResponse, routesOf } from '../http/describe-route.ts';
import { existing, invalidInput, unreadableBody } from '../http/errors.ts';
import { moreThanBlanks } from '../schemas/agent-schemas.ts';
import { noQuery, pageQuerySchema, wholeNumber } from '../schemas/query-schemas.ts';
import { viewOf } from '../serializers.ts';

const LIMITS = KNOWLEDGE_LIMITS;

const documentNameSchema = moreThanBlanks(LIMITS.nameCharsMax).openapi({
  description: 'A document of the same name gets a new version.',
  example: 'Opening hours',
});

const addKnowledgeSchema = z
  .strictObject({
    name: documentNameSchema,
    text: moreThanBlanks(LIMITS.textCharsMax).openapi({
      description: 'Plain text or Markdown. Its headings are kept with the passages under them.',
      example: '# Opening hours\n\nFrom nine to five, Monday to Friday.',
    }),
  })
  .openapi('AddKnowledge');

const fileContent = {
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['file'],
      additionalProperties: false,
      properties: {
        name: {
          type: 'string',
          maxLength: LIMITS.nameCharsMax,
          description: 'Name of the document; the name of the file unless given.',
        },
        file: {
          type: 'string',
          format: 'binary',
          description: `Text or Markdown (in UTF-8), HTML or PDF, at most ${LIMITS.fileBytesMax / 1024 / 1024} MiB. Scanned pages have no text.`,
        },
      },
    },
  },
};

const jsonContent = jsonBody(addKnowledgeSchema);

/** JSON as routes validate it; the schema of a file is documentation, and `knowledge-upload.ts` validates it. */
const knowledgeBody: typeof jsonContent = {
  ...jsonContent,
  content: { ...jsonContent.content, ...fileContent },
};

const versionFields = {
  version: z.int().openapi({ description: 'Counted from 1.' }),
  mediaType: z.enum(KNOWLEDGE_TYPES),
  chars: z.int().openapi({ description: 'Length of its text in characters.' }),
  createdAt: z.iso.datetime(),
};

const knowledgeDocumentSchema = z
  .object({
    id: z.string().openapi({ example: 'doc_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    name: z.string(),
    ...versionFields,
    passages: z.int().openapi({
      description: 'Passages of its newest version, which are what a search finds.',
    }),
    updatedAt: z.iso.datetime().openapi({ description: 'When its newest version was added.' }),
  })
  .openapi('KnowledgeDocument');

const knowledgeVersionSchema = z.object(versionFields);

const knowledgeTextSchema = knowledgeDocumentSchema
  .extend({
    text: z.string().openapi({ description: 'Of the version asked for, without layout.' }),
    versions: z.array(knowledgeVersionSchema).openapi({
      description: `Newest first; the last ${LIMITS.versionsKept} are kept.`,
    }),
  })
  .openapi('KnowledgeText');

const knowledgeVersionQuerySchema = z.strictObject({
  version: wholeNumber({ min: 1, max: 1_000_000_000 })
    .optional()
    .openapi({
      param: { description: 'Which version the text is of; the newest unless given.' },
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000_000,
    }),
});

const readRoute = routesOf({ tag: 'Knowledge', scope: 'agents:read' });

const writeRoute = routesOf({ tag: 'Knowledge', scope: 'agents:write' });

const listRoute = readRoute('get', '/api/agents/{agentId}/knowledge', {
  operationId: 'listKnowledge',
  summary: "Lists an agent's documents by name",
  description: 'Each in its newest version, without its text.',
  request: { query: pageQuerySchema },
  responses: {
    200: pageResponse('A page of documents.', 'KnowledgePage', knowledgeDocumentSchema),
  },
});

const addRoute = writeRoute('post', '/api/agents/{agentId}/knowledge', {
  operationId: 'addKnowledge',
  summary: 'Adds a document, or a new version of one',
  description: `Passages that share words with what a caller says go into the prompt of the language model; \`knowledge\` on the timeline of the call names them. A call finds documents that the agent had when it began, in their newest version. The name of a document makes the next version of it, of which the last ${KNOWLEDGE_LIMITS.versionsKept} are kept; the same text again changes nothing. An agent has at most ${KNOWLEDGE_LIMITS.agentDocumentsMax} documents, ${KNOWLEDGE_LIMITS.agentCharsMax} characters and ${KNOWLEDGE_LIMITS.agentPassagesMax} passages (409).`,
  request: { body: knowledgeBody },
  responses: { 201: jsonResponse('The document as it is now.', knowledgeDocumentSchema) },
});

const getRoute = readRoute('get', '/api/agents/{agentId}/knowledge/{documentId}', {
  operationId: 'getKnowledge',
  summary: 'Gets a document with its text and its versions',
  description: 'A version that is kept no longer is 404.',
  request: { query: knowledgeVersionQuerySchema },
  responses: { 200: jsonResponse('The document.', knowledgeTextSchema) },
});

const deleteRoute = writeRoute('delete', '/api/agents/{agentId}/knowledge/{documentId}', {
  operationId: 'deleteKnowledge',
  summary: 'Deletes a document with all its versions',
  description: 'Nothing finds it from then on, calls in progress included.',
  responses: { 204: { description: 'The document is gone.' } },
});

/** Adds `/api/agents/{agentId}/knowledge`: uploads, lists, shows and deletes documents. */
export function addKnowledgeRoutes(api: ApiApp, deps: ApiDeps): void {
  addKnowledgeUpload(api, deps);
  addKnowledgeReads(api, deps);
  addKnowledgeWrites(api, deps);
}

function addKnowledgeReads(api: ApiApp, { agents, knowledge }: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    const { agentId } = context.req.valid('param');
    const { limit, offset } = context.req.valid('query');
    const scope = scopeOf(context);
    existing(await agents.find(scope, agentId), 'agent');
    const { items: documents, total } = await knowledge.list(scope, agentId, { limit, offset });
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

const PATH = '/api/agents/:agentId/knowledge';

const UPLOAD_PATH = /^\/api\/agents\/[^/]+\/knowledge$/;

const FORM_TYPE = /^multipart\/form-data;/i;

/** Room for the parts around the file. */
const FORM_BYTES = 16 * 1024;

const SIZE_MAX = `expected ${KNOWLEDGE_LIMITS.fileBytesMax / 1024 / 1024} MiB at most`;

/** Kinds of files by the ending of their names, which says more than the type that clients send. */
const TYPES: Readonly<Record<string, KnowledgeType>> = {
  '.txt': 'text/plain',
  '.text': 'text/plain',
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.pdf': 'application/pdf',
};

const formSchema = z.strictObject({
  name: documentNameSchema.optional(),
  file: z.instanceof(File, { error: 'expected one file' }),
});

/** Whether the request sends a file, whose body is read by its route. */
export function isUpload({ req }: ApiContext): boolean {
  if (req.method !== 'POST' || !UPLOAD_PATH.test(req.path)) return false;
  return FORM_TYPE.test(req.header('content-type') ?? '');
}

/** Takes the route's requests with a file; others go on to the next handler. */
function addKnowledgeUpload(api: ApiApp, deps: ApiDeps): void {
  const limitSize = bodyLimit({
    maxSize: KNOWLEDGE_LIMITS.fileBytesMax + FORM_BYTES,
    onError: () => {
      throw unreadableBody('file', SIZE_MAX);
    },
  });
  api.post(PATH, async (context, next) => {
    if (!isUpload(context)) return next();
    checkScope(context, 'agents:write');
    return await limitSize(context, async () => {
      context.res = await upload(context, deps);
    });
  });
}

async function upload(context: ApiContext, deps: ApiDeps): Promise<Response> {
  const query = noQuery.safeParse(context.req.query());
  if (!query.success) throw invalidInput('query', query.error);
  const form = formSchema.safeParse(await formOf(context));
  if (!form.success) throw invalidInput('body', form.error);
  const { file, name: given } = form.data;
  const name = documentNameSchema.safeParse(given ?? file.name);
  if (!name.success) throw invalidInput('body', name.error);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes.length > KNOWLEDGE_LIMITS.fileBytesMax) throw unreadableBody('file', SIZE_MAX);
  const mediaType = typeOf(file);
  // Two requests of the same file are the same request, though their boundaries differ.
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  context.set('bodyText', JSON.stringify({ name: name.data, mediaType, sha256 }));
  const readText = () => deps.documentReader.read({ bytes, mediaType });
  const agentId = context.req.param('agentId') ?? '';
  return addDocument(context, deps, { agentId, name: name.data, mediaType, readText });
}

/** @returns the fields; one that is there twice is a list, which no field may be. */
async function formOf(context: ApiContext): Promise<object> {
  const form = await context.req.formData().catch(() => {
    throw unreadableBody('', 'expected multipart/form-data');
  });
  const fields = Map.groupBy(form.entries(), ([field]) => field);
  return Object.fromEntries(
    [...fields].map(([field, entries]) => {
      const values = entries.map(([, value]) => value);
      return [field, values.length === 1 ? values[0] : values];
    }),
  );
}

/** @throws {ServiceError} UNPROCESSABLE when the file is of another kind. */
function typeOf({ name, type }: File): KnowledgeType {
  const [sent = ''] = type.split(';');
  const ofSent = Object.values(TYPES).find((known) => known === sent.toLowerCase());
  const found = TYPES[extname(name).toLowerCase()] ?? ofSent;
  if (found !== undefined) return found;
  throw new ServiceError(
    'UNPROCESSABLE',
    'Cannot read the document: expected text, Markdown, HTML or PDF (.txt, .md, .html, .pdf)',
  );
}

/** A document whose text may have to be read first. */
interface UnreadDocument extends Pick<KnowledgeDraft, 'agentId' | 'name' | 'mediaType'> {
  readonly readText: () => Promise<string>;
}

/**
 * Saves the document, or the next version of it, once for each idempotency key.
 *
 * @throws {ServiceError} AGENT_NOT_FOUND; UNPROCESSABLE when it cannot be used; CONFLICT when the agent has too much.
 */
async function addDocument(
  context: ApiContext,
  deps: ApiDeps,
  { agentId, name, mediaType, readText }: UnreadDocument,
) {
  const { agents, clock, newId } = deps;
  const scope = scopeOf(context);
  return answerOnce(context, deps, {
    work: async (commit) => {
      existing(await agents.find(scope, agentId), 'agent');
      const content = contentOf(await readText());
      const draft = { ...scope, id: newId('doc'), agentId, name, mediaType, now: clock.now() };
      return commit(async (stores) => {
        // The agent may have been deleted while the text was read.
        existing(await stores.agents.find(scope, agentId), 'agent');
        const document = await stores.knowledge.save(draft, content);
        return { status: 201, body: viewOf(knowledgeDocumentSchema, document) };
      });
    },
  });
}
