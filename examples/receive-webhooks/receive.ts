/**
 * Receives webhooks with Node's own HTTP server. Try it:
 *
 *     WEBHOOK_SECRET=whsec_… node examples/receive-webhooks/receive.ts
 */
import { createServer } from 'node:http';
import { env } from 'node:process';
import { buffer } from 'node:stream/consumers';
// In a project of your own: from '@offhook/client'.
import { webhooks } from '../../clients/typescript/src/index.ts';

const { WEBHOOK_SECRET: secret = '', PORT = '9000' } = env;

/** Deliveries come at least once. A real receiver keeps their ids in its database. */
const seen = new Set<string>();

const server = createServer(async (request, response) => {
  try {
    const event = await webhooks.verify(await buffer(request), request.headers, secret);
    const isNew = !seen.has(event.id);
    seen.add(event.id);
    if (isNew) console.log('received', event.event, event.id);
    response.writeHead(204).end();
  } catch (error) {
    console.log('refused', error instanceof Error ? error.message : error);
    response.writeHead(401).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log('listening on', PORT));
