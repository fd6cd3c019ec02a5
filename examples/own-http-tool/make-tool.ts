/**
 * Gives agents a tool that looks up orders, and tries it. Try it, with `order-server.ts` running and a server that was started
 * with WEBHOOK_ALLOW_LOCAL=true:
 *
 *     OFFHOOK_KEY=svc_live_… node examples/own-http-tool/make-tool.ts A-1047
 */
import { argv, env } from 'node:process';
// In a project of your own: from '@offhook/client'.
import { NotFoundError, Offhook } from '../../clients/typescript/src/index.ts';

const { OFFHOOK_KEY: apiKey = '', OFFHOOK_URL: baseUrl = 'http://localhost:3000' } = env;
const { TOOL_SERVER = 'http://127.0.0.1:9002' } = env;

const offhook = new Offhook({ apiKey, baseUrl });
const fields = {
  description: 'Looks up where an order is. Ask the caller for the order number first.',
  parameters: {
    type: 'object',
    properties: { orderId: { type: 'string', description: 'Such as A-1047.', maxLength: 20 } },
    required: ['orderId'],
  },
  method: 'GET',
  url: `${TOOL_SERVER}/orders/{orderId}`,
  timeoutMs: 5000,
  sayWhileWaiting: 'Let me look that up.',
  resultPath: 'status',
} as const;
await offhook.tools.update('order_status', fields).catch((error) => {
  if (!(error instanceof NotFoundError)) throw error;
  return offhook.tools.create({ name: 'order_status', ...fields });
});

// What the model of a call would be told. Agents use the tool with `tools: ['order_status']`.
const arguments_ = { orderId: argv[2] ?? 'A-1047' };
const { result, problem } = await offhook.tools.test('order_status', { arguments: arguments_ });
console.log(problem === null ? `result: ${result}` : `problem: ${problem}`);
