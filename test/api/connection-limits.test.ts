/** What one client can take of the HTTP port, and what is left for others and for health checks. */
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { HttpServer, type HttpServerOptions } from '../../src/api/http/http-server.ts';
import { systemClock } from '../../src/lib/clock.ts';

const GREEDY = '127.0.0.2';
const OTHER = '127.0.0.3';

const running: HttpServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of running.splice(0)) await server.stop();
});

async function startServer(options: Partial<HttpServerOptions> = {}): Promise<number> {
  const server = new HttpServer({
    ...{ host: '127.0.0.1', port: 0, clock: systemClock, newId: () => `req_${'0'.repeat(24)}` },
    fetch: () => new Response('ok'),
    ...options,
  });
  running.push(server);
  return server.start();
}

/** Opens connections that begin a request and never end it. */
async function beginRequests(port: number, count: number, localAddress: string): Promise<void> {
  const opened = Array.from({ length: count }, async () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('GET /api/agents HTTP/1.1\r\nHost: a\r\n');
  });
  await Promise.all(opened);
}

/** Makes a request on a connection of its own. */
function ask(port: number, path: string, localAddress: string): Promise<number | string> {
  return new Promise((resolve) => {
    const request = get({ port, host: '127.0.0.1', path, localAddress, agent: false }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    });
    request.setTimeout(3000, () => request.destroy(new Error('no answer')));
    request.on('error', (error) => resolve(error.message));
  });
}

test('HttpServer answers other addresses, and all health checks, while one address has 2,500 unfinished requests', async () => {
  const port = await startServer();
  await beginRequests(port, 2500, GREEDY);

  const statuses = await Promise.all([
    ask(port, '/api/agents', OTHER),
    ask(port, '/healthz', OTHER),
    ask(port, '/healthz', GREEDY),
    ask(port, '/readyz', GREEDY),
    ask(port, '/readyz?verbose=1', GREEDY),
  ]);

  expect(statuses).toEqual([200, 200, 200, 200, 200]);
});

test('HttpServer gives an address 256 connections, and 503 with Retry-After beyond', async () => {
  const port = await startServer();
  await beginRequests(port, 255, GREEDY);

  const within = await ask(port, '/api/agents', GREEDY);
  await beginRequests(port, 1, GREEDY);
  const beyond = await fetchFrom(port, '/api/agents', GREEDY);

  expect(within).toBe(200);
  expect(beyond).toMatch(/^HTTP\/1\.1 503 /);
  expect(beyond).toMatch(/\r\nRetry-After: \d+\r\n/);
  expect(beyond).toMatch(/\r\nConnection: close\r\n/i);
  expect(beyond).toContain('"code":"SERVICE_UNAVAILABLE"');
});

test('HttpServer gives an address its connections back when they close', async () => {
  const port = await startServer();
  await beginRequests(port, 256, GREEDY);
  expect(await ask(port, '/api/agents', GREEDY)).toBe(503);

  for (const socket of sockets.splice(0)) socket.destroy();

  await expect.poll(() => ask(port, '/api/agents', GREEDY)).toBe(200);
});

test('HttpServer answers health checks while many addresses have all its connections', async () => {
  const port = await startServer();
  for (let host = 10; host < 20; host += 1) await beginRequests(port, 220, `127.0.0.${host}`);

  const statuses = [await ask(port, '/healthz', OTHER), await ask(port, '/api/agents', OTHER)];

  expect(statuses).toEqual([200, 503]);
});

test('HttpServer gives a trusted proxy more connections than a client', async () => {
  const port = await startServer({ isTrustedProxy: (address) => address === GREEDY });
  await beginRequests(port, 300, GREEDY);

  expect(await ask(port, '/api/agents', GREEDY)).toBe(200);
});

/** The bytes of an answer. */
async function fetchFrom(port: number, path: string, localAddress: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  let text = '';
  for await (const piece of socket) text += String(piece);
  return text;
}
