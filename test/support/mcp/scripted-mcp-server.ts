/** A server that speaks MCP of 2025 as the test says, also wrongly. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One request by JSON-RPC. */
export interface RpcRequest {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Empty before there is one. */
  readonly sessionId: string;
}

/** What to answer: a result, or the whole response by oneself. */
export type RpcAnswer = (
  request: RpcRequest,
  response: ServerResponse,
) => Readonly<Record<string, unknown>> | undefined;

export interface ScriptedMcpServer {
  readonly url: string;
  readonly requests: readonly RpcRequest[];
}

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1' },
};

/** @param answer undefined leaves the response to the function. */
export async function openScriptedMcpServer(answer: RpcAnswer): Promise<ScriptedMcpServer> {
  const requests: RpcRequest[] = [];
  const server = createServer((request, response) => {
    void take(request, response, { requests, answer });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, requests };
}

async function take(
  request: IncomingMessage,
  response: ServerResponse,
  parts: { readonly requests: RpcRequest[]; readonly answer: RpcAnswer },
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
  const rpc: RpcRequest = { ...body, sessionId: String(request.headers['mcp-session-id'] ?? '') };
  parts.requests.push(rpc);
  if (rpc.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const result = parts.answer(rpc, response) ?? (rpc.method === 'initialize' ? INITIALIZED : null);
  if (response.headersSent || response.writableEnded || result === null) return;
  const head = { 'content-type': 'application/json' };
  response.writeHead(200, head).end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result }));
}
