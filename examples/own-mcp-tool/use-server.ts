/**
 * Makes an MCP server known to Offhook, and lists its tools. Try it, with `mcp-server.ts` running and a server that was started
 * with WEBHOOK_ALLOW_LOCAL=true:
 *
 *     OFFHOOK_KEY=svc_live_… node examples/own-mcp-tool/use-server.ts
 */
import { env } from 'node:process';
// In a project of your own: from '@offhook/client'.
import { NotFoundError, Offhook } from '../../clients/typescript/src/index.ts';

const { OFFHOOK_KEY: apiKey = '', OFFHOOK_URL: baseUrl = 'http://localhost:3000' } = env;
const { MCP_TOKEN = 'shop-token', MCP_URL = 'http://127.0.0.1:9003/mcp' } = env;

const offhook = new Offhook({ apiKey, baseUrl });
const fields = {
  url: MCP_URL,
  headers: [{ name: 'Authorization', value: `Bearer ${MCP_TOKEN}`, secret: true }],
  // No other tool of the server is shown to a model.
  allowedTools: ['opening_hours'],
};
await offhook.mcpServers.update('shop', fields).catch((error) => {
  if (!(error instanceof NotFoundError)) throw error;
  return offhook.mcpServers.create({ name: 'shop', ...fields });
});

// Agents use it with `tools: ['shop']`; the model sees `shop_opening_hours`.
console.log(JSON.stringify(await offhook.mcpServers.test('shop'), null, 2));
