/** What API keys look like in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { API_SCOPES } from '../../domain/account/api-key.ts';
import { allDifferent, words } from './agent-schemas.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';

const NAME_CHARS_MAX = 120;

const environment = z.enum(['live', 'test']);

const scope = z.enum(API_SCOPES);

const timestamp = z.iso.datetime();

export const createKeySchema = z
  .strictObject({
    name: words(NAME_CHARS_MAX).openapi({ example: 'Booking site' }),
    environment: environment.optional().openapi({
      description: "The calling key's own unless given. A test key cannot make live ones.",
    }),
    scopes: z
      .array(scope)
      .min(1)
      .max(API_SCOPES.length)
      .refine(allDifferent, 'scopes must differ')
      .optional()
      .openapi({ uniqueItems: true, description: 'Everything but `admin` unless given.' }),
  })
  .openapi('CreateKey');

const fields = {
  id: z.string().openapi({ example: 'key_0VbZOZK8iLGcXSKvcmQMdaX5' }),
  name: z.string(),
  environment,
  prefix: z.string().openapi({ example: 'svc_live_' }),
  lastFour: z.string().openapi({ example: '7Qx2' }),
  scopes: z.array(scope),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable().openapi({ description: 'To the minute; null when never used.' }),
  revokedAt: timestamp.nullable().openapi({ description: 'null while the key is good.' }),
};

export const keySchema = z.object(fields).openapi('Key');

export const createdKeySchema = z
  .object({
    ...fields,
    key: z.string().nullable().openapi({
      description:
        'The whole key, here and never again: keep it safe. null when the answer is a replay.',
      example: 'svc_live_0aVbZOZK8iLGcXSKvcmQMdaX5h2Tq7Qx2',
    }),
  })
  .openapi('CreatedKey');

export const keyPageSchema = pageOf(keySchema).openapi('KeyPage');

export const keyQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  environment: environment.optional().openapi({
    param: { description: 'Only keys of this environment; otherwise all that the key manages.' },
  }),
});

export const keyPathSchema = z.object({ keyId: z.string() });
