/** `/api/mcp-servers`: makes, lists, shows, changes, deletes and tries MCP servers; with their schemas. */
import { z } from '@hono/zod-openapi';
import { ServiceError } from '../../domain/service-error.ts';
import {
  createMcpServer,
  MCP_LIMITS,
  MCP_SERVER_NAME,
  type McpServer,
  type McpTrialOutcome,
  patchMcpServer,
} from '../../domain/tool/mcp-server.ts';
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
import { PAGE_LIMIT, pageOf, pagingFields } from '../schemas/query-schemas.ts';
import { viewOf } from '../serializers.ts';
import { headersInput, headersShown } from './tool-routes.ts';

const name = z
  .string()
  .regex(MCP_SERVER_NAME, 'expected lower-case letters, digits and _, a letter first, 31 at most')
  .openapi({
    pattern: MCP_SERVER_NAME.source,
    description:
      'Unique among the tools and MCP servers of the environment; not the name of a built-in tool (409). Agents list it in `tools`.',
    example: 'shop',
  });

const url = z.string().min(1).max(WEBHOOK_URL_CHARS_MAX).openapi({
  description:
    'https; where the server speaks MCP by streamable HTTP. The address that the host resolves to is checked at every request.',
  example: 'https://shop.example.com/mcp',
});

const allowedTools = z
  .array(z.string().min(1).max(MCP_LIMITS.toolNameCharsMax))
  .max(MCP_LIMITS.allowedToolsMax)
  .refine((names) => new Set(names).size === names.length, 'names must differ')
  .openapi({
    uniqueItems: true,
    description:
      'Names of tools of the server that agents get; others are not offered to a model and not called. `POST …/test` lists what the server has.',
    example: ['find_order'],
  });

const createMcpServerSchema = z
  .strictObject({ name, url, headers: headersInput.optional(), allowedTools })
  .openapi('CreateMcpServer');

const patchMcpServerSchema = z
  .strictObject({
    url: url.optional(),
    headers: headersInput.optional(),
    allowedTools: allowedTools.optional(),
  })
  .openapi('PatchMcpServer', {
    minProperties: 1,
    description:
      'Only the fields that are there change; `headers` and `allowedTools` are replaced whole.',
  });

const mcpServerSchema = z
  .object({
    name: z.string(),
    url: z.string(),
    headers: headersShown,
    allowedTools: z.array(z.string()),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('McpServer');

const mcpServerPageSchema = pageOf(mcpServerSchema).openapi('McpServerPage');

const mcpServerQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

const mcpServerPathSchema = z.object({ mcpServerName: z.string() });

const mcpTrialSchema = z
  .object({
    ok: z.boolean(),
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        isAllowed: z.boolean().openapi({ description: 'Whether `allowedTools` names it.' }),
      }),
    ),
    problem: z.string().nullable().openapi({
      description:
        'Why the server cannot be used, or which allowed tools it has not; null where all is well.',
      example: 'no server listens at its port (ECONNREFUSED)',
    }),
    tookMs: z.int(),
  })
  .openapi('McpTrial');

const reads = { tag: 'Tools', scope: 'agents:read' } as const;

const writes = { tag: 'Tools', scope: 'agents:write' } as const;

const listRoute = describeRoute({
  ...reads,
  operationId: 'listMcpServers',
  method: 'get',
  path: '/api/mcp-servers',
  summary: 'Lists MCP servers by name',
  request: { query: mcpServerQuerySchema },
  responses: { 200: jsonResponse('A page of servers.', mcpServerPageSchema) },
});

const newRoute = describeRoute({
  ...writes,
  operationId: 'createMcpServer',
  method: 'post',
  path: '/api/mcp-servers',
  summary: 'Makes an MCP server known, whose tools agents may use during calls',
  description: `At most ${MCP_LIMITS.serversMax} an environment (409). An agent uses its allowed tools once its \`tools\` name the server. It need not run yet. A url that is no https URL is 400; one whose host is a private, loopback or special address is 422.`,
  request: { body: jsonBody(createMcpServerSchema) },
  responses: { 201: taggedResponse('The server is known.', mcpServerSchema) },
});

const getRoute = describeRoute({
  ...reads,
  operationId: 'getMcpServer',
  method: 'get',
  path: '/api/mcp-servers/{mcpServerName}',
  summary: 'Shows an MCP server',
  request: { params: mcpServerPathSchema },
  responses: {
    200: taggedResponse('Every field; secret header values are null.', mcpServerSchema),
  },
});

const patchRoute = describeRoute({
  ...writes,
  operationId: 'updateMcpServer',
  method: 'patch',
  path: '/api/mcp-servers/{mcpServerName}',
  summary: 'Changes the fields that the body has',
  description: 'Calls in progress keep the server as it was when they began.',
  ...TAKES_IF_MATCH,
  request: { params: mcpServerPathSchema, body: jsonBody(patchMcpServerSchema) },
  responses: { 200: taggedResponse('The server as it is now.', mcpServerSchema) },
  errors: [412, 422],
});

const deleteRoute = describeRoute({
  ...writes,
  operationId: 'deleteMcpServer',
  method: 'delete',
  path: '/api/mcp-servers/{mcpServerName}',
  summary: 'Deletes an MCP server',
  description: 'A server that an agent lists is 409.',
  ...TAKES_IF_MATCH,
  request: { params: mcpServerPathSchema },
  responses: { 204: { description: 'The server is gone.' } },
  errors: [409, 412],
});

const testRoute = describeRoute({
  ...writes,
  operationId: 'testMcpServer',
  method: 'post',
  path: '/api/mcp-servers/{mcpServerName}/test',
  summary: 'Connects to an MCP server, and lists its tools',
  description:
    'What goes wrong at the other server is no error of this request: `ok` is false. 429 with `Retry-After` also while four tests run.',
  request: { params: mcpServerPathSchema },
  responses: { 200: jsonResponse('What came of it.', mcpTrialSchema) },
});

/** A test takes as long as the other server. */
const RETRY_AFTER_SECONDS = '5';

/** Adds `/api/mcp-servers` and the request that tries one. */
export function addMcpRoutes(api: ApiApp, deps: ApiDeps): void {
  addMcpReads(api, deps);
  addMcpWrites(api, deps);
  addMcpTest(api, deps);
}

function addMcpReads(api: ApiApp, { mcpServers }: ApiDeps): void {
  api.openapi(listRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const { servers, total } = await mcpServers.list(scopeOf(context), { limit, offset });
    return context.json({ data: servers.map(serverView), total, limit, offset }, 200);
  });

  api.openapi(getRoute, async (context) => {
    const { mcpServerName } = context.req.valid('param');
    const server = existing(await mcpServers.find(scopeOf(context), mcpServerName), 'MCP server');
    context.header('ETag', entityTag(server.updatedAt));
    return context.json(serverView(server), 200);
  });
}

function addMcpWrites(api: ApiApp, deps: ApiDeps): void {
  const { clock, mcpTrial, webhookUrlRules: urlRules } = deps;

  api.openapi(newRoute, async (context) => {
    const draft = context.req.valid('json');
    const scope = scopeOf(context);
    return answerOnce(context, deps, {
      work: async (commit) => {
        const server = createMcpServer(draft, { scope, now: clock.now(), urlRules });
        const answer = await commit(async (stores) => {
          await stores.mcpServers.insert(server);
          return { status: 201, body: serverView(server) };
        });
        mcpTrial.prepare(server);
        return answer;
      },
      etag: ({ updatedAt }) => entityTag(updatedAt),
    });
  });

  api.openapi(patchRoute, async (context) => {
    const { mcpServerName } = context.req.valid('param');
    const facts = { now: clock.now(), urlRules };
    const changed = await deps.transaction(async (stores) => {
      const found = await stores.mcpServers.find(scopeOf(context), mcpServerName);
      const server = existing(found, 'MCP server');
      requireMatch(context, server.updatedAt, 'the MCP server');
      const patched = patchMcpServer(server, context.req.valid('json'), facts);
      await stores.mcpServers.update(patched);
      return patched;
    });
    mcpTrial.prepare(changed);
    context.header('ETag', entityTag(changed.updatedAt));
    return context.json(serverView(changed), 200);
  });

  api.openapi(deleteRoute, async (context) => {
    const { mcpServerName } = context.req.valid('param');
    const scope = scopeOf(context);
    await deps.transaction(async (stores) => {
      const server = existing(await stores.mcpServers.find(scope, mcpServerName), 'MCP server');
      requireMatch(context, server.updatedAt, 'the MCP server');
      await stores.mcpServers.delete(scope, mcpServerName);
    });
    return context.body(null, 204);
  });
}

function addMcpTest(api: ApiApp, deps: ApiDeps): void {
  const { mcpServers, mcpTrial } = deps;

  api.openapi(testRoute, async (context) => {
    const { mcpServerName } = context.req.valid('param');
    return answerOnce(context, deps, {
      work: async () => {
        const found = await mcpServers.find(scopeOf(context), mcpServerName);
        const server = existing(found, 'MCP server');
        const outcome = await mcpTrial.run(server, context.req.raw.signal);
        if (outcome === null) {
          context.header('Retry-After', RETRY_AFTER_SECONDS);
          throw new ServiceError(
            'RATE_LIMITED',
            'Cannot test the MCP server: four tests run; retry later',
          );
        }
        return { status: 200, body: trialView(server, outcome) };
      },
    });
  });
}

function trialView({ allowedTools }: McpServer, { tools, problem, tookMs }: McpTrialOutcome) {
  const missing = allowedTools.filter((name) => !tools.some((tool) => tool.name === name));
  const isMissing = problem === null && missing.length > 0;
  const why = isMissing ? `the server has no tool ${missing.join(', ')}` : problem;
  const shown = tools.map((tool) => ({ ...tool, isAllowed: allowedTools.includes(tool.name) }));
  return { ok: why === null, tools: shown, problem: why, tookMs };
}

function serverView(server: McpServer) {
  const headers = server.headers.map((header) =>
    header.secret ? { ...header, value: null } : header,
  );
  return viewOf(mcpServerSchema, { ...server, headers });
}
