/** What custom tools look like in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { TOOL_LIMITS, TOOL_METHODS, TOOL_NAME } from '../../domain/tool/custom-tool.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import { words } from './agent-schemas.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';

const LIMITS = TOOL_LIMITS;

const name = z
  .string()
  .regex(TOOL_NAME, 'expected lower-case letters, digits and _, a letter first, 63 at most')
  .openapi({
    pattern: TOOL_NAME.source,
    description: 'Unique in the environment; not the name of a built-in tool (409).',
    example: 'order_status',
  });

const parameters = z.record(z.string(), z.unknown()).openapi({
  description:
    'JSON Schema of the arguments: `{"type": "object", …}`. Keywords: type, title, description, enum, minLength, maxLength, pattern, minimum, maximum, items, minItems, maxItems, properties, required, additionalProperties (false). At most 8,000 characters and 5 levels.',
  example: {
    type: 'object',
    properties: { orderId: { type: 'string', description: 'Such as A-1047.', maxLength: 20 } },
    required: ['orderId'],
  },
});

const url = z.string().min(1).max(WEBHOOK_URL_CHARS_MAX).openapi({
  description:
    'https, with places such as `{orderId}` in path or query, each a required property of parameters; values are percent-encoded. Arguments without a place go to the query (GET, DELETE) or to a JSON body. The address that the host resolves to is checked at every request.',
  example: 'https://shop.example.com/orders/{orderId}',
});

export const headersInput = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(LIMITS.headerNameCharsMax).openapi({ example: 'Authorization' }),
      value: z.string().max(LIMITS.headerValueCharsMax).nullable().openapi({
        description: 'null in a PATCH keeps the secret value that the header has.',
        example: 'Bearer 12345',
      }),
      secret: z
        .boolean()
        .optional()
        .openapi({ description: 'Never shown again; false unless given.' }),
    }),
  )
  .max(LIMITS.headersMax)
  .openapi({ description: 'Headers of the request; none unless given.' });

const required = {
  description: words(LIMITS.descriptionCharsMax).openapi({
    description: 'For the model: what the tool does, and when to use it.',
    example: 'Looks up where an order is.',
  }),
  parameters,
  method: z.enum(TOOL_METHODS),
  url,
};

const optional = {
  headers: headersInput.optional(),
  timeoutMs: z.int().min(LIMITS.timeoutMs.min).max(LIMITS.timeoutMs.max).optional().openapi({
    description: 'Limit of the whole request; a new tool has 10,000 unless given.',
  }),
  sayWhileWaiting: words(LIMITS.sayWhileWaitingCharsMax).nullable().optional().openapi({
    description:
      'What the caller hears when an answer takes longer than 0.5 s; null for a phrase of the agent’s language.',
    example: 'Let me look that up.',
  }),
  resultPath: words(LIMITS.resultPathCharsMax).nullable().optional().openapi({
    description:
      'Which part of a JSON answer the model gets, as a dotted path; null for all of it.',
    example: 'data.items.0.status',
  }),
};

export const createToolSchema = z
  .strictObject({ name, ...required, ...optional })
  .openapi('CreateTool');

export const patchToolSchema = z
  .strictObject({ ...z.object(required).partial().shape, ...optional })
  .openapi('PatchTool', {
    minProperties: 1,
    description: 'Only the fields that are there change; `headers` replaces all of them.',
  });

export const headersShown = z.array(
  z.object({
    name: z.string(),
    value: z.string().nullable().openapi({ description: 'null for a secret one.' }),
    secret: z.boolean(),
  }),
);

export const toolSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    method: z.enum(TOOL_METHODS),
    url: z.string(),
    headers: headersShown,
    timeoutMs: z.int(),
    sayWhileWaiting: z.string().nullable(),
    resultPath: z.string().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('Tool');

export const toolPageSchema = pageOf(toolSchema).openapi('ToolPage');

export const toolQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

export const toolPathSchema = z.object({ toolName: z.string() });

export const tryToolSchema = z
  .strictObject({ arguments: z.record(z.string(), z.unknown()) })
  .openapi('TryTool');

export const toolTrialSchema = z
  .object({
    done: z.boolean(),
    result: z.string().openapi({ description: 'What the model of a call would be told.' }),
    problem: z.string().nullable().openapi({
      description: 'Why it was not done; null where it was, or where the arguments are wrong.',
      example: 'no server listens at its port (ECONNREFUSED)',
    }),
    tookMs: z.int(),
  })
  .openapi('ToolTrial');
