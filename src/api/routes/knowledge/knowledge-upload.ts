/** A document of an agent as a file: `POST /api/agents/{agentId}/knowledge` with `multipart/form-data`. */
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { z } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import { KNOWLEDGE_LIMITS, type KnowledgeType } from '../../../domain/knowledge/knowledge.ts';
import { ServiceError } from '../../../domain/service-error.ts';
import type { ApiApp, ApiContext, ApiDeps } from '../../api-env.ts';
import { checkScope } from '../../http/authentication.ts';
import { invalidInput, unreadableBody } from '../../http/errors.ts';
import { documentNameSchema } from '../../schemas/knowledge-schemas.ts';
import { noQuery } from '../../schemas/paging-schema.ts';
import { addDocument } from './add-document.ts';

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
export function addKnowledgeUpload(api: ApiApp, deps: ApiDeps): void {
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
  // Two requests of the same file are the same request, whatever boundary they have.
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
