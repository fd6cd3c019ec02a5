import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { HttpServer, type HttpServerOptions } from '../../src/api/http/http-server.ts';
import type { RateStore } from '../../src/domain/account/rate-limit.ts';
import { ServiceError } from '../../src/domain/service-error.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const running: HttpServer[] = [];

function textAnswer(body: string): Response {
  return new Response(body);
}

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function startServer(
  fetch: HttpServerOptions['fetch'] = () => textAnswer('hello'),
  rates?: RateStore,
): Promise<{ readonly server: HttpServer; readonly port: number }> {
  const newId = () => `req_${'0'.repeat(24)}`;
  const options = { host: '127.0.0.1', port: 0, fetch, newId, clock: systemClock };
  const server = new HttpServer(rates === undefined ? options : { ...options, rates });
  running.push(server);
  return { server, port: await server.start() };
}

/** Sends bytes and reads until the server closes. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

test('HttpServer serves what is answered', async () => {
  const { port } = await startServer();

  const response = await fetch(`http://127.0.0.1:${port}/`);

  expect(await response.text()).toBe('hello');
});

test('HttpServer names address and port when another program listens there', async () => {
  const { port } = await startServer();
  const newId = () => 'req_0';
  const options = { host: '127.0.0.1', port, fetch: () => textAnswer(''), newId };
  const second = new HttpServer({ ...options, clock: systemClock });

  await expect(second.start()).rejects.toThrow(
    `Cannot open HTTP port "127.0.0.1:${port}": another program listens there; stop it, or set PORT`,
  );
  await second.stop();
});

test('HttpServer names an address that the machine has not got', async () => {
  const options = {
    host: '192.0.2.1',
    port: 0,
    fetch: () => textAnswer(''),
    newId: () => 'req_0',
  };
  const server = new HttpServer({ ...options, clock: systemClock });

  await expect(server.start()).rejects.toThrow('this machine has no such address; set HOST');
});

const UNREADABLE = [
  ['bytes that are no HTTP', 'HELLO\r\n\r\n'],
  ['headers over 16 KiB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ['a host that is none', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
  ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
] as const;

test.each(
  UNREADABLE,
)('HttpServer counts %s for its address, and says how many are left', async (_case, text) => {
  const counted: string[] = [];
  const count = async (subject: string) => counted.push(subject) + 6;
  const { port } = await startServer(undefined, { count });
  const hourMs = 3_600_000;

  const answer = await sendRaw(port, text);

  expect(counted).toEqual(['address:127.0.0.1']);
  expect(answer).toMatch(/^x-ratelimit-limit: 1000\r$/im);
  expect(answer).toMatch(/^x-ratelimit-remaining: 993\r$/im);
  const resetMs = 1000 * Number(/^x-ratelimit-reset: (\d+)\r$/im.exec(answer)?.[1]);
  expect(resetMs % hourMs).toBe(0);
  expect(Math.abs(resetMs - Date.now())).toBeLessThanOrEqual(hourMs);
});

test('HttpServer says that nothing is left where requests cannot be counted', async () => {
  const count = () => {
    throw new Error('the disk is full');
  };
  const { port } = await startServer(undefined, { count });

  const answer = await sendRaw(port, 'HELLO\r\n\r\n');

  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/^x-ratelimit-remaining: 0\r$/im);
  expect(answer).not.toContain('disk');
});

test.each(UNREADABLE)('HttpServer answers 400 with the envelope to %s', async (_case, text) => {
  const { port } = await startServer();

  const answer = await sendRaw(port, text);

  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(head).toMatch(/^x-request-id: req_0{24}$/im);
  expect(JSON.parse(body).error).toMatchObject({
    code: 'VALIDATION_ERROR',
    status: 400,
    requestId: `req_${'0'.repeat(24)}`,
  });
});

test('HttpServer serves a request with an unknown Expect header', async () => {
  const { port } = await startServer();

  const answer = await sendRaw(
    port,
    'GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
  );

  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test('HttpServer lets an answer finish when it stops, and takes no new request', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  const { server, port } = await startServer(() => {
    asked.resolve();
    return answer.promise;
  });

  const response = fetch(`http://127.0.0.1:${port}/`);
  await asked.promise;
  const stopped = server.stop();
  answer.resolve(textAnswer('last words'));

  expect(await (await response).text()).toBe('last words');
  await stopped;
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test('HttpServer hangs up, without waiting for its limit, when a stream ends while it stops', async () => {
  const asked = Promise.withResolvers<void>();
  const { readable, writable } = new TransformStream<Uint8Array>();
  const { server, port } = await startServer(() => {
    asked.resolve();
    return new Response(readable);
  });
  const answered = sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await asked.promise;

  const startedAtMs = performance.now();
  const stopped = server.stop();
  const writer = writable.getWriter();
  await writer.write(Buffer.from('last words'));
  await writer.close();
  await stopped;

  expect(performance.now() - startedAtMs).toBeLessThan(2500);
  expect(await answered).toContain('last words');
});

test('HttpServer stops twice without complaint', async () => {
  const { server } = await startServer();

  await server.stop();

  await expect(server.stop()).resolves.toBeUndefined();
});

/** A server on the test's own clock, whose log and upgrades are seen. */
async function startSeen(fetch: HttpServerOptions['fetch'], take: () => void = () => undefined) {
  const clock = new FakeClock();
  const seen = { logged: [] as string[], stops: 0 };
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    fetch,
    newId: () => 'req_0',
    clock,
    log: { ...silentLogger, error: (_fields, text) => seen.logged.push(String(text)) },
    upgrades: {
      takes: ({ url }) => url === '/socket',
      take: async () => take(),
      stop: () => {
        seen.stops += 1;
      },
    },
  });
  running.push(server);
  return { server, clock, seen, port: await server.start() };
}

const UPGRADE =
  'GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

test.each([
  ['a failure', new TypeError('secret'), /^HTTP\/1\.1 500 /, ['http: upgrade failed']],
  ['a refusal', new ServiceError('FORBIDDEN', 'No'), /^HTTP\/1\.1 403 /, []],
])('HttpServer answers %s of an upgrade with the envelope, and logs failures', async (_case, error, status, logged) => {
  const { port, seen } = await startSeen(
    () => textAnswer('hello'),
    () => {
      throw error;
    },
  );

  const answer = await sendRaw(port, UPGRADE);

  expect(answer).toMatch(status);
  expect(answer).not.toContain('secret');
  expect(seen.logged).toEqual(logged);
});

test.each([
  ['a failure', new TypeError('secret'), 500, ['http: request failed']],
  ['a refusal', new ServiceError('CONFLICT', 'No'), 409, []],
])('HttpServer answers %s of a request with the envelope, and logs failures', async (_case, error, status, logged) => {
  const now = await startSeen(() => {
    throw error;
  });
  const later = await startSeen(() => Promise.reject(error));

  for (const { port, seen } of [now, later]) {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('secret');
    expect(seen.logged).toEqual(logged);
  }
});

test('HttpServer cuts answers off that last longer than 5 s after it stops, and stops its upgrades once', async () => {
  const asked = Promise.withResolvers<void>();
  const { server, clock, seen, port } = await startSeen(() => {
    asked.resolve();
    return new Response(new ReadableStream());
  });
  const answered = sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').catch(String);
  await asked.promise;
  let isStopped = false;

  const stopped = server.stop().then(() => {
    isStopped = true;
  });
  await server.stop();
  clock.advance(4999);
  await new Promise((resolve) => setImmediate(resolve));
  const before = isStopped;
  clock.advance(1);
  await stopped;
  await answered;

  expect(before).toBe(false);
  expect([seen.stops, clock.waiting]).toEqual([1, 0]);
});
