/** `/api/tools`: makes, lists, shows, changes, deletes and tries custom tools; with their schemas. */
import { z } from '@hono/zod-openapi';
import { ServiceError } from '../../domain/service-error.ts';
import {
  type CustomTool,
  createTool,
  patchTool,
  TOOL_LIMITS,
  TOOL_METHODS,
  TOOL_NAME,
} from '../../domain/tool/custom-tool.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import {
  describeRoute,
  jsonBody,
  jsonResponse,
  TAKES_IF_MATCH,
  taggedResponse,
} from '../http/describe-route.ts';
import { entityTag, requireMatch } from '../http/entity-tag.ts';
import { existing } from '../http/errors.ts';
import { words } from '../schemas/agent-schemas.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from '../schemas/query-schemas.ts';
import { viewOf } from '../serializers.ts';

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

const toolPageSchema = pageOf(toolSchema).openapi('ToolPage');

const toolQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

const toolPathSchema = z.object({ toolName: z.string() });

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

const reads = { tag: 'Tools', scope: 'agents:read' } as const;

const writes = { tag: 'Tools', scope: 'agents:write' } as const;

const listRoute = describeRoute({
  ...reads,
  operationId: 'listTools',
  method: 'get',
  path: '/api/tools',
  summary: 'Lists custom tools by name',
  description: 'The built-in tools are not in it. Scope: `agents:read`.',
  request: { query: toolQuerySchema },
  responses: { 200: jsonResponse('A page of tools.', toolPageSchema) },
});

const newRoute = describeRoute({
  ...writes,
  operationId: 'createTool',
  method: 'post',
  path: '/api/tools',
  summary: 'Makes a tool: an HTTP request that agents may make during calls',
  description: `At most ${TOOL_LIMITS.toolsMax} an environment (409). An agent uses it once its \`tools\` name it. Requests are signed as webhooks are. A url that is no https URL is 400; one whose host is a private, loopback or special address is 422. Scope: \`agents:write\`.`,
  request: { body: jsonBody(createToolSchema) },
  responses: { 201: taggedResponse('The tool was made.', toolSchema) },
});

const getRoute = describeRoute({
  ...reads,
  operationId: 'getTool',
  method: 'get',
  path: '/api/tools/{toolName}',
  summary: 'Shows a tool',
  request: { params: toolPathSchema },
  responses: { 200: taggedResponse('Every field; secret header values are null.', toolSchema) },
});

const patchRoute = describeRoute({
  ...writes,
  operationId: 'updateTool',
  method: 'patch',
  path: '/api/tools/{toolName}',
  summary: 'Changes the fields that the body has',
  description: 'Calls in progress keep the tool as it was when they began.',
  ...TAKES_IF_MATCH,
  request: { params: toolPathSchema, body: jsonBody(patchToolSchema) },
  responses: { 200: taggedResponse('The tool was changed.', toolSchema) },
  errors: [412, 422],
});

const deleteRoute = describeRoute({
  ...writes,
  operationId: 'deleteTool',
  method: 'delete',
  path: '/api/tools/{toolName}',
  summary: 'Deletes a tool',
  description: 'A tool that an agent lists is 409.',
  ...TAKES_IF_MATCH,
  request: { params: toolPathSchema },
  responses: { 204: { description: 'The tool is gone.' } },
  errors: [409, 412],
});

const testRoute = describeRoute({
  ...writes,
  operationId: 'testTool',
  method: 'post',
  path: '/api/tools/{toolName}/test',
  summary: 'Makes the request of a tool, as a call would',
  description:
    'What goes wrong at the other server is no error of this request: `done` is false. 429 with `Retry-After` also while four tests run.',
  request: { params: toolPathSchema, body: jsonBody(tryToolSchema) },
  responses: { 200: jsonResponse('What came of it.', toolTrialSchema) },
});

/** A test takes as long as the other server. */
const RETRY_AFTER_SECONDS = '5';

/** Adds `/api/tools` and the request that tries one. */
export function addToolRoutes(api: ApiApp, deps: ApiDeps): void {
  addToolReads(api, deps);
  addToolWrites(api, deps);
  addToolTest(api, deps);
}

function addToolReads(api: ApiApp, { customTools }: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const { tools, total } = await customTools.list(scopeOf(context), { limit, offset });
    return context.json({ data: tools.map(toolView), total, limit, offset }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { toolName } = context.req.valid('param');
    const tool = existing(await customTools.find(scopeOf(context), toolName), 'tool');
    context.header('ETag', entityTag(tool.updatedAt));
    return context.json(toolView(tool), 200);
  });
}

function addToolWrites(api: ApiApp, deps: ApiDeps): void {
  const { clock, webhookUrlRules: urlRules } = deps;

  api.openapi(newRoute, async (context) => {
    const draft = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const tool = createTool(draft, { scope, now: clock.now(), urlRules });
        return commit(async (stores) => {
          await stores.customTools.insert(tool);
          return { status: 201, body: toolView(tool) };
        });
      },
      etag: ({ updatedAt }) => entityTag(updatedAt),
    });
  });

  api.openapi(patchRoute, async (context) => {
    const { toolName } = context.req.valid('param');
    const facts = { now: clock.now(), urlRules };
    const changed = await deps.transaction(async (stores) => {
      const tool = existing(await stores.customTools.find(scopeOf(context), toolName), 'tool');
      requireMatch(context, tool.updatedAt, 'the tool');
      const patched = patchTool(tool, context.req.valid('json'), facts);
      await stores.customTools.update(patched);
      return patched;
    });
    context.header('ETag', entityTag(changed.updatedAt));
    return context.json(toolView(changed), 200);
  });

  api.openapi(deleteRoute, async (context) => {
    const { toolName } = context.req.valid('param');
    const scope = scopeOf(context);
    await deps.transaction(async (stores) => {
      const tool = existing(await stores.customTools.find(scope, toolName), 'tool');
      requireMatch(context, tool.updatedAt, 'the tool');
      await stores.customTools.delete(scope, toolName);
    });
    return context.body(null, 204);
  });
}

function addToolTest(api: ApiApp, deps: ApiDeps): void {
  const { customTools, toolTrial } = deps;

  api.openapi(testRoute, async (context) => {
    const { toolName } = context.req.valid('param');
    const { arguments: args } = context.req.valid('json');
    return answerOnce(context, deps, {
      work: async () => {
        const tool = existing(await customTools.find(scopeOf(context), toolName), 'tool');
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
  const headers = tool.headers.map((header) =>
    header.secret ? { ...header, value: null } : header,
  );
  return viewOf(toolSchema, { ...tool, headers });
}
