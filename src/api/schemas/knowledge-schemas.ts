/** What documents of agents look like in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { KNOWLEDGE_LIMITS } from '../../domain/knowledge/knowledge.ts';
import { words } from './agent-schemas.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';

const LIMITS = KNOWLEDGE_LIMITS;

export const addKnowledgeSchema = z
  .strictObject({
    name: words(LIMITS.nameCharsMax).openapi({
      description: 'A document of the same name is its next version, and is found instead of it.',
      example: 'Opening hours',
    }),
    text: words(LIMITS.textCharsMax).openapi({
      description: 'Plain text, or Markdown, whose headings are kept with the passages under them.',
      example: '# Opening hours\n\nFrom nine to five, Monday to Friday.',
    }),
  })
  .openapi('AddKnowledge');

export const knowledgeDocumentSchema = z
  .object({
    id: z.string().openapi({ example: 'doc_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    name: z.string(),
    version: z.int(),
    mediaType: z.string(),
    chars: z.int(),
    passages: z.int().openapi({ description: 'Passages that are searched.' }),
    createdAt: z.iso.datetime(),
  })
  .openapi('KnowledgeDocument');

export const knowledgePageSchema = pageOf(knowledgeDocumentSchema).openapi('KnowledgePage');

export const knowledgeQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

export const knowledgePathSchema = z.object({ agentId: z.string(), documentId: z.string() });
