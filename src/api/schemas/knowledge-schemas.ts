/** What documents of agents look like in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { KNOWLEDGE_LIMITS, KNOWLEDGE_TYPES } from '../../domain/knowledge/knowledge.ts';
import { moreThanBlanks } from './agent-schemas.ts';
import { jsonBody } from './json-content.ts';
import { PAGE_LIMIT, pageOf, pagingFields, wholeNumber } from './paging-schema.ts';

const LIMITS = KNOWLEDGE_LIMITS;

export const documentNameSchema = moreThanBlanks(LIMITS.nameCharsMax).openapi({
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
export const knowledgeBody: typeof jsonContent = {
  ...jsonContent,
  content: { ...jsonContent.content, ...fileContent },
};

const versionFields = {
  version: z.int().openapi({ description: 'Counted from 1.' }),
  mediaType: z.enum(KNOWLEDGE_TYPES),
  chars: z.int().openapi({ description: 'Length of its text in characters.' }),
  createdAt: z.iso.datetime(),
};

export const knowledgeDocumentSchema = z
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

export const knowledgeVersionSchema = z.object(versionFields);

export const knowledgeTextSchema = knowledgeDocumentSchema
  .extend({
    text: z.string().openapi({ description: 'Of the version asked for, without layout.' }),
    versions: z.array(knowledgeVersionSchema).openapi({
      description: `Newest first; the last ${LIMITS.versionsKept} are kept.`,
    }),
  })
  .openapi('KnowledgeText');

export const knowledgePageSchema = pageOf(knowledgeDocumentSchema).openapi('KnowledgePage');

export const knowledgeQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

export const knowledgePathSchema = z.object({ agentId: z.string(), documentId: z.string() });

export const knowledgeVersionQuerySchema = z.strictObject({
  version: wholeNumber({ min: 1, max: 1_000_000_000 })
    .optional()
    .openapi({
      param: { description: 'Which version the text is of; the newest unless given.' },
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000_000,
    }),
});
