import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { LIVE_KEY, openTestApi } from '../support/api/test-api.ts';

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
