/** `/api/mcp-servers`: makes, lists, shows, changes, deletes and tries MCP servers; with their schemas. */
import { z } from '@hono/zod-openapi';
import { ServiceError } from '../../domain/service-error.ts';
import type { Stores } from '../../domain/stores.ts';
import {
  createMcpServer,
  MCP_LIMITS,
  MCP_SERVER_NAME,
  type McpServer,
  type McpTrialOutcome,
  patchMcpServer,
} from '../../domain/tool/mcp-server.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import type { ApiApp, ApiDeps } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute, jsonResponse } from '../http/describe-route.ts';
import { viewOf } from '../serializers.ts';
import { addNamedRecordRoutes, namedRecordOf } from './named-record-routes.ts';
import { headersInput, headersShown, withoutSecrets } from './tool-routes.ts';

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

/** The kind of records that MCP servers are. */
const KIND = {
  noun: 'MCP server',
  name: 'McpServer',
  tag: 'Tools',
  path: '/api/mcp-servers',
  param: 'mcpServerName',
  readScope: 'agents:read',
  writeScope: 'agents:write',
  words: {
    list: { summary: 'Lists MCP servers by name', success: 'A page of servers.' },
    create: {
      summary: 'Makes an MCP server known, whose tools agents may use during calls',
      description: `At most ${MCP_LIMITS.serversMax} an environment (409). An agent uses its allowed tools once its \`tools\` name the server. It need not run yet. A url that is no https URL is 400; one whose host is a private, loopback or special address is 422.`,
      success: 'The server is known.',
    },
    get: {
      summary: 'Shows an MCP server',
      success: 'Every field; secret header values are null.',
    },
    update: {
      summary: 'Changes the fields that the body has',
      description: 'Calls in progress keep the server as it was when they began.',
      success: 'The server as it is now.',
    },
    delete: {
      summary: 'Deletes an MCP server',
      description: 'A server that an agent lists is 409.',
      success: 'The server is gone.',
    },
  },
  createSchema: createMcpServerSchema,
  patchSchema: patchMcpServerSchema,
  schema: mcpServerSchema,
  storeOf: (stores: Pick<Stores, 'mcpServers'>) => stores.mcpServers,
  view: serverView,
} as const;

const testRoute = describeRoute('post', '/api/mcp-servers/{mcpServerName}/test', {
  ...{ tag: 'Tools', scope: 'agents:write' },
  operationId: 'testMcpServer',
  summary: 'Connects to an MCP server, and lists its tools',
  description:
    'What goes wrong at the other server is no error of this request: `ok` is false. 429 with `Retry-After` also while four tests run.',
  responses: { 200: jsonResponse('What came of it.', mcpTrialSchema) },
});

/** A test takes as long as the other server. */
const RETRY_AFTER_SECONDS = '5';

/** Adds `/api/mcp-servers` and the request that tries one. */
export function addMcpRoutes(api: ApiApp, deps: ApiDeps): void {
  const { mcpTrial, webhookUrlRules: urlRules } = deps;
  addNamedRecordRoutes(api, deps, {
    ...KIND,
    create: (draft, facts) => createMcpServer(draft, { ...facts, urlRules }),
    patch: (server, patch, now) => patchMcpServer(server, patch, { now, urlRules }),
    saved: (server) => mcpTrial.prepare(server),
  });
  addMcpTest(api, deps);
}

function addMcpTest(api: ApiApp, deps: ApiDeps): void {
  const { mcpTrial } = deps;

  api.openapi(testRoute, async (context) => {
    return answerOnce(context, deps, {
      work: async () => {
        const server = await namedRecordOf(deps, context, KIND);
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
  return viewOf(mcpServerSchema, { ...server, headers: withoutSecrets(server.headers) });
}
