/**
 * A server whose orders an agent can look up, with Node's own HTTP server. Try it, and then make the tool with `make-tool.ts`:
 *
 *     WEBHOOK_SECRET=whsec_… node examples/own-http-tool/order-server.ts
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { env } from 'node:process';

const { WEBHOOK_SECRET: secret = '', PORT = '9002' } = env;

const ORDERS: Readonly<Record<string, string>> = {
  'A-1047': 'It ships on Friday.',
  'A-1048': 'It was delivered yesterday.',
};

/** Tool requests are signed as webhooks are; the body of a GET is empty. */
function isGenuine(headers: IncomingHttpHeaders): boolean {
  const timestamp = String(headers['x-service-timestamp'] ?? '');
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).digest();
  const given = Buffer.from(String(headers['x-service-signature'] ?? ''), 'hex');
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer((request, response) => {
  const answer = (status: number, body: object) => {
    console.log(request.method, request.url, status);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  if (!isGenuine(request.headers)) return answer(401, { error: 'wrong signature' });
  const id = decodeURIComponent(/^\/orders\/([^/?]+)$/.exec(request.url ?? '')?.[1] ?? '');
  // What stands for a database that is down.
  if (id === 'A-500') return answer(500, { error: 'the database is down' });
  answer(200, { status: ORDERS[id] ?? 'There is no such order.' });
});
server.listen(Number(PORT), '127.0.0.1', () => console.log('listening on', PORT));
