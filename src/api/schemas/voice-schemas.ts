/** What voices look like in queries and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { isPlainText, isSayable } from '../../domain/agent/agent-rules.ts';
import { PREVIEW_CHARACTERS_MAX } from '../../domain/agent/voice-catalogue.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';

export const voiceSchema = z
  .object({
    id: z.string().openapi({
      description: 'What an agent names as its `voice`.',
      example: 'en-US-JennyNeural',
    }),
    locale: z.string().openapi({
      example: 'en-US',
      description: '`und` for a voice of a speech server that does not tell its language.',
    }),
    language: z.string().openapi({ example: 'en' }),
    name: z.string().openapi({ example: 'Jenny' }),
    gender: z.enum(['female', 'male', 'unknown']),
    engine: z.string().openapi({ description: 'What speaks it on this server now.' }),
    isFallback: z
      .boolean()
      .openapi({ description: 'Whether the engine stands in for a better one.' }),
    sampleUrl: z.url().openapi({ description: 'Its preview; needs a key like every request.' }),
  })
  .openapi('Voice');

export const voicePageSchema = pageOf(voiceSchema).openapi('VoicePage');

export const voiceQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  locale: z
    .string()
    .regex(/^[A-Za-z]{2,3}-[A-Za-z0-9]{2,3}$/, 'expected a language and a region, such as en-US')
    .optional(),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}$/, 'expected an ISO 639 code, such as en')
    .optional(),
});

export const voicePathSchema = z.object({ voiceId: z.string() });

export const previewQuerySchema = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(PREVIEW_CHARACTERS_MAX)
    .refine(isSayable, 'expected something to say')
    .refine(isPlainText, 'expected well-formed Unicode without NUL')
    .optional()
    .openapi({
      param: { description: 'What to say; unless given, a sentence in the voice’s language.' },
    }),
});
