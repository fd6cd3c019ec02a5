import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { hasMoreCommasThan, isDeeperThan } from '../../src/api/http/request-body.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { LIVE_KEY, openTestApi } from '../support/api/test-api.ts';
import { fastestCpuMs } from '../support/time/cpu-time.ts';

/** Sends `chunks` of 64 KiB over a real connection, without announcing how long they are. */
async function postUnannounced(chunks: number): Promise<{
  status: number;
  body: string;
}> {
  const api = await openTestApi();
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    fetch: api.app.fetch,
    newId: () => 'req_0',
    clock: systemClock,
  });
  const port = await server.start();
  let sent = 0;
  const stream = new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > chunks) controller.close();
      else controller.enqueue(new TextEncoder().encode(' '.repeat(65_536)));
    },
  });
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/agents`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${LIVE_KEY}`, 'Content-Type': 'application/json' },
      body: stream,
      duplex: 'half',
    });
    return { status: response.status, body: await response.text() };
  } finally {
    await server.stop();
  }
}

test('A body that grows over 1 MiB without saying so is refused with the envelope', async () => {
  const { status, body } = await postUnannounced(17);

  expect(status).toBe(400);
  expect(body).toContain('expected 1 MiB at most');
});

test('A body of 1 MiB is read, and refused only for what it says', async () => {
  const { status, body } = await postUnannounced(16);

  expect(status).toBe(400);
  expect(body).toContain('expected well-formed JSON');
});

const HEAD = `POST /api/agents HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${LIVE_KEY}\r\n`;

async function connectWith(log: Logger): Promise<Socket> {
  const { app } = await openTestApi({ log });
  const parts = { host: '127.0.0.1', port: 0, newId: () => 'req_0', clock: systemClock };
  const server = new HttpServer({ ...parts, fetch: app.fetch, log });
  const socket = connect(await server.start(), '127.0.0.1');
  onTestFinished(() => server.stop());
  return socket;
}

test.each([
  ['announced', 'Content-Length: 1200000\r\n\r\n', 'x'.repeat(150_000)],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n', `249f0\r\n${'x'.repeat(150_000)}\r\n`],
])('A client that is still sending too long a body, %s, is not reset before it has its answer', async (_how, head, piece) => {
  const socket = await connectWith(silentLogger);

  socket.write(HEAD + head + piece.repeat(7));
  const [answer] = await once(socket, 'data');
  socket.write(piece);
  if (head.startsWith('Transfer')) socket.write('0\r\n\r\n');
  socket.end();
  const [hadError] = await once(socket, 'close');

  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
  expect(hadError).toBe(false);
});

test('A client that goes away in the middle of its body is no failure of the server', async () => {
  const logged: unknown[] = [];
  const answered = Promise.withResolvers<object>();
  const log: Logger = { ...silentLogger, error: (fields) => logged.push(fields) };
  const socket = await connectWith({ ...log, info: answered.resolve });

  socket.end(`${HEAD}Content-Length: 50\r\n\r\nhello`, () => socket.destroy());

  expect(await answered.promise).toMatchObject({ status: 400 });
  expect(logged).toEqual([]);
});

const MEBIBYTE = 1024 * 1024;

test.each([
  ['1', 0, false],
  ['[]', 0, true],
  ['[]', 1, false],
  ['[[],[],{}]', 2, false],
  ['[[],[],{"a":[]}]', 2, true],
  ['"[[[["', 0, false],
  ['"\\"[[[["', 0, false],
  ['{"a\\\\":[1]}', 1, true],
  ['["[', 1, false],
  [']]]]', 0, false],
])('isDeeperThan of %s and %d is %s', (text, depthMax, expected) => {
  expect(isDeeperThan(text, depthMax)).toBe(expected);
});

test('isDeeperThan agrees with the parsed value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, depthMax) => {
      expect(isDeeperThan(JSON.stringify(value, null, 1), depthMax)).toBe(
        depthOf(value) > depthMax,
      );
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['brackets', '['.repeat(MEBIBYTE)],
  ['one string', `"${'x'.repeat(MEBIBYTE - 2)}"`],
  ['empty objects', `[${'{},'.repeat(MEBIBYTE / 3 - 2)}{}]`],
])('isDeeperThan looks through a mebibyte of %s in less than 20 ms', (_case, text) => {
  expect(fastestCpuMs(() => isDeeperThan(text, 32))).toBeLessThan(20);
});

test.each([
  ['[]', 0, false],
  ['[1,2]', 0, true],
  ['[1,2]', 1, false],
  ['{"a":1,"b":[2,3]}', 1, true],
  ['{"a":1,"b":[2,3]}', 2, false],
  ['",,,,"', 0, false],
  ['["\\",",",2]', 1, false],
  ['",', 0, false],
])('hasMoreCommasThan of %s and %d is %s', (text, commasMax, expected) => {
  expect(hasMoreCommasThan(text, commasMax)).toBe(expected);
});

test.each([
  ['keys', `{${'"abcdefghij":1,'.repeat(70_000)}"a":1}`],
  ['commas in one string', `"${','.repeat(MEBIBYTE - 2)}"`],
  [
    'short strings with commas',
    `[${'"a,,,,,,,,,",'.repeat(2000)}1${' '.repeat(MEBIBYTE - 30_000)}]`,
  ],
])('hasMoreCommasThan looks through a mebibyte of %s in less than 20 ms', (_case, text) => {
  expect(fastestCpuMs(() => hasMoreCommasThan(text, 2000))).toBeLessThan(20);
});

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [index.toString(36), 0]));

test.each([
  ['80,000 keys of metadata', '/api/calls/outbound', { metadata: keys(80_000) }],
  ['60,000 unknown fields', '/api/agents', keys(60_000)],
  ['80,000 tools', '/api/agents', { tools: Array<string>(80_000).fill('end_call') }],
])('A body with %s is refused before it is parsed', async (_case, path, body) => {
  const api = await openTestApi();

  const answer = await api.json('POST', path, { body });

  expect([answer.status, answer.body.error.message]).toEqual([
    400,
    'Cannot read the body: expected 2000 fields and list items at most',
  ]);
});

test.each([
  ['lists', '['.repeat(33) + ']'.repeat(33)],
  ['objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['a mebibyte of brackets', '['.repeat(MEBIBYTE)],
])('A body of %s that is nested too deep is refused before it is parsed', async (_case, text) => {
  const api = await openTestApi();

  const { status, body } = await api.json('POST', '/api/agents', { text });

  expect([status, body.error.message]).toEqual([
    400,
    'Cannot read the body: expected JSON that is nested 32 deep at most',
  ]);
});

test('A body that is nested 32 deep is read, and refused only for what it says', async () => {
  const api = await openTestApi();
  const text = '['.repeat(32) + ']'.repeat(32);

  const { body } = await api.json('POST', '/api/agents', { text });

  expect(body.error.message).toContain('must be an object');
});

test('A body of a request without a key is not looked at', async () => {
  const api = await openTestApi();

  const { status } = await api.json('POST', '/api/agents', { key: null, text: '['.repeat(99) });

  expect(status).toBe(401);
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
