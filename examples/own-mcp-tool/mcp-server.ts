/**
 * An MCP server with one tool, by the official SDK. Try it, and then make it known with `use-server.ts`:
 *
 *     node examples/own-mcp-tool/mcp-server.ts
 */
import type { Server } from 'node:http';
import { env } from 'node:process';
import { createAdaptorServer } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const { MCP_TOKEN = 'shop-token', PORT = '9003' } = env;

function shop(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  server.registerTool(
    'opening_hours',
    {
      description: 'Says when the shop is open on a day of the week.',
      inputSchema: z.object({ day: z.enum(['weekday', 'saturday', 'sunday']) }),
      // Tools that change nothing may be used before the caller's words are sure.
      annotations: { readOnlyHint: true },
    },
    async ({ day }) => {
      const text = { weekday: 'Nine to six.', saturday: 'Ten to two.', sunday: 'Closed.' }[day];
      return { content: [{ type: 'text', text }] };
    },
  );
  return server;
}

const handler = createMcpHandler(shop);
const server = createAdaptorServer({
  fetch: async (request: Request) => {
    const isAllowed = request.headers.get('authorization') === `Bearer ${MCP_TOKEN}`;
    return isAllowed ? handler.fetch(request) : new Response('wrong token', { status: 401 });
  },
}) as Server;
server.listen(Number(PORT), '127.0.0.1', () => console.log('listening on', PORT));
