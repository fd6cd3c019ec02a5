/** A customer's MCP server, by the official SDK: a shop whose orders can be looked up and cancelled. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

/** What has been cancelled, and how many requests came. */
export interface McpShop {
  readonly port: number;
  readonly url: string;
  readonly cancelled: readonly string[];
  readonly authorizations: readonly string[];
  /** Ends all connections; a new shop may take the port. */
  close(): Promise<void>;
}

/** @param options.port any free one unless given. */
export async function openMcpShop(options: { readonly port?: number } = {}): Promise<McpShop> {
  const cancelled: string[] = [];
  const authorizations: string[] = [];
  const handler = createMcpHandler(() => shopOf(cancelled, authorizations));
  const server = createAdaptorServer({
    fetch: async (request: Request) => {
      authorizations.push(request.headers.get('authorization') ?? '');
      return handler.fetch(request);
    },
  }) as Server;
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/mcp`, cancelled, authorizations, close };
}

function shopOf(cancelled: string[], authorizations: readonly string[]): McpServer {
  const shop = new McpServer({ name: 'shop', version: '1.0.0' });
  shop.registerTool(
    'find.order',
    {
      description: 'Looks up where an order is.',
      inputSchema: z.object({ orderId: z.string().max(20) }),
      annotations: { readOnlyHint: true },
    },
    async ({ orderId }) => text(`The order ${orderId} ships on Friday.`),
  );
  shop.registerTool(
    'cancel_order',
    { description: 'Cancels an order.', inputSchema: z.object({ orderId: z.string() }) },
    async ({ orderId }) => {
      if (orderId === 'sent') return { ...text('It was sent already.'), isError: true };
      cancelled.push(orderId);
      return text('');
    },
  );
  shop.registerTool(
    'repeat',
    { description: 'Repeats what it was sent.', inputSchema: z.object({}) },
    async () => text(`You sent ${authorizations.at(-1)}`),
  );
  shop.registerTool(
    'wait',
    { description: 'Answers after half a second.', inputSchema: z.object({}) },
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return text('waited');
    },
  );
  shop.registerTool(
    'hang',
    { description: 'Never answers.', inputSchema: z.object({}) },
    (_args, context) =>
      new Promise((resolve) => {
        context.mcpReq.signal.addEventListener('abort', () => resolve(text('')));
      }),
  );
  return shop;
}
