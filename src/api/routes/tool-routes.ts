/** `/api/tools`: makes, lists, shows, changes, deletes and tries custom tools; with their schemas. */
import { z } from '@hono/zod-openapi';
import { ServiceError } from '../../domain/service-error.ts';
import type { Stores } from '../../domain/stores.ts';
import {
  type CustomTool,
  createTool,
  patchTool,
  TOOL_LIMITS,
  TOOL_METHODS,
  TOOL_NAME,
} from '../../domain/tool/custom-tool.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import type { ApiApp, ApiDeps } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute, jsonBody, jsonResponse } from '../http/describe-route.ts';
import { words } from '../schemas/agent-schemas.ts';
import { viewOf } from '../serializers.ts';
import { addNamedRecordRoutes, namedRecordOf } from './named-record-routes.ts';

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

/** Headers as a client gives them: a value, or null to keep the stored secret. */
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

const createToolSchema = z.strictObject({ name, ...required, ...optional }).openapi('CreateTool');

const patchToolSchema = z
  .strictObject({ ...z.object(required).partial().shape, ...optional })
  .openapi('PatchTool', {
    minProperties: 1,
    description: 'Only the fields that are there change; `headers` replaces all of them.',
  });

/** Headers as they are shown: values of secrets are left out. */
export const headersShown = z.array(
  z.object({
    name: z.string(),
    value: z.string().nullable().openapi({ description: 'null for a secret one.' }),
    secret: z.boolean(),
  }),
);

const toolSchema = z
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

const tryToolSchema = z
  .strictObject({ arguments: z.record(z.string(), z.unknown()) })
  .openapi('TryTool');

const toolTrialSchema = z
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

/** The kind of records that custom tools are. */
const KIND = {
  noun: 'tool',
  name: 'Tool',
  path: '/api/tools',
  param: 'toolName',
  tag: 'Tools',
  readScope: 'agents:read',
  writeScope: 'agents:write',
  words: {
    list: {
      summary: 'Lists custom tools by name',
      description: 'The built-in tools are not in it. Scope: `agents:read`.',
      success: 'A page of tools.',
    },
    create: {
      summary: 'Makes a tool: an HTTP request that agents may make during calls',
      description: `At most ${TOOL_LIMITS.toolsMax} an environment (409). An agent uses it once its \`tools\` name it. Requests are signed as webhooks are. A url that is no https URL is 400; one whose host is a private, loopback or special address is 422. Scope: \`agents:write\`.`,
      success: 'The tool was made.',
    },
    get: { summary: 'Shows a tool', success: 'Every field; secret header values are null.' },
    update: {
      summary: 'Changes the fields that the body has',
      description: 'Calls in progress keep the tool as it was when they began.',
      success: 'The tool was changed.',
    },
    delete: {
      summary: 'Deletes a tool',
      description: 'A tool that an agent lists is 409.',
      success: 'The tool is gone.',
    },
  },
  createSchema: createToolSchema,
  patchSchema: patchToolSchema,
  schema: toolSchema,
  storeOf: (stores: Pick<Stores, 'customTools'>) => stores.customTools,
  view: toolView,
} as const;

const testRoute = describeRoute('post', '/api/tools/{toolName}/test', {
  ...{ tag: 'Tools', scope: 'agents:write' },
  operationId: 'testTool',
  summary: 'Makes the request of a tool, as a call would',
  description:
    'What goes wrong at the other server is no error of this request: `done` is false. 429 with `Retry-After` also while four tests run.',
  request: { body: jsonBody(tryToolSchema) },
  responses: { 200: jsonResponse('What came of it.', toolTrialSchema) },
});

/** A test takes as long as the other server. */
const RETRY_AFTER_SECONDS = '5';

/** Adds `/api/tools` and the request that tries one. */
export function addToolRoutes(api: ApiApp, deps: ApiDeps): void {
  const { webhookUrlRules: urlRules } = deps;
  addNamedRecordRoutes(api, deps, {
    ...KIND,
    create: (draft, facts) => createTool(draft, { ...facts, urlRules }),
    patch: (tool, patch, now) => patchTool(tool, patch, { now, urlRules }),
  });
  addToolTest(api, deps);
}

function addToolTest(api: ApiApp, deps: ApiDeps): void {
  const { toolTrial } = deps;

  api.openapi(testRoute, async (context) => {
    const { arguments: args } = context.req.valid('json');
    return answerOnce(context, deps, {
      work: async () => {
        const tool = await namedRecordOf(deps, context, KIND);
        const outcome = await toolTrial.run(tool, args, context.req.raw.signal);
        if (outcome === null) {
          context.header('Retry-After', RETRY_AFTER_SECONDS);
          throw new ServiceError(
            'RATE_LIMITED',
            'Cannot test the tool: four tests run; retry later',
          );
        }
        const { isDone: done, text: result, problem, tookMs } = outcome;
        return { status: 200, body: { done, result, problem, tookMs } };
      },
    });
  });
}

function toolView(tool: CustomTool) {
  return viewOf(toolSchema, { ...tool, headers: withoutSecrets(tool.headers) });
}

/** Headers as `headersShown` has them. */
export function withoutSecrets(headers: CustomTool['headers']) {
  return headers.map((header) => (header.secret ? { ...header, value: null } : header));
}
