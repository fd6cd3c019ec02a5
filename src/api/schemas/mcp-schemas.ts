/** What MCP servers look like in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { MCP_LIMITS, MCP_SERVER_NAME } from '../../domain/tool/mcp-server.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../../domain/webhook/webhook-url.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';
import { headersInput, headersShown } from './tool-schemas.ts';

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

export const createMcpServerSchema = z
  .strictObject({ name, url, headers: headersInput.optional(), allowedTools })
  .openapi('CreateMcpServer');

export const patchMcpServerSchema = z
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

export const mcpServerSchema = z
  .object({
    name: z.string(),
    url: z.string(),
    headers: headersShown,
    allowedTools: z.array(z.string()),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('McpServer');

export const mcpServerPageSchema = pageOf(mcpServerSchema).openapi('McpServerPage');

export const mcpServerQuerySchema = z.strictObject(pagingFields(PAGE_LIMIT));

export const mcpServerPathSchema = z.object({ mcpServerName: z.string() });

export const mcpTrialSchema = z
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
