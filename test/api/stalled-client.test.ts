import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { AnswerBody } from '../../src/api/api-answer.ts';
import { HttpServer, type HttpServerOptions } from '../../src/api/http-server.ts';
import { systemClock } from '../../src/lib/clock.ts';

type Answer = HttpServerOptions['answer'];

/** A connection to a server that hangs up on a client which takes nothing for 20 ms. */
async function connectTo(answer: Answer): Promise<Socket> {
  const parts = { host: '127.0.0.1', port: 0, newId: () => 'req_0', clock: systemClock };
  const server = new HttpServer({ ...parts, answer, stalledMs: 20 });
  const port = await server.start();
  onTestFinished(() => server.stop());
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the server hangs up. */
async function read(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (piece: string) => {
    text += piece;
  });
  await once(socket, 'close');
  return text;
}

function ok(body: AnswerBody) {
  return { status: 200, headers: [], body };
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

const GET_SLOW = 'GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

test('A client that has stopped reading a stream is hung up on, and the stream is cancelled', async () => {
  const cancelled = Promise.withResolvers<void>();
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
    cancel: () => cancelled.resolve(),
  });
  const socket = await connectTo(() => ok(stream));

  socket.pause();
  socket.write(GET);

  await expect(cancelled.promise).resolves.toBeUndefined();
});

test('A client that has stopped reading a long text is hung up on', async () => {
  const gone = Promise.withResolvers<void>();
  const socket = await connectTo(({ signal }) => {
    signal.addEventListener('abort', () => gone.resolve());
    return ok('x'.repeat(64 * 1024 * 1024));
  });

  socket.pause();
  socket.write(GET);

  await expect(gone.promise).resolves.toBeUndefined();
});

test('A client to which a stream has nothing to send keeps its connection', async () => {
  const { readable, writable } = new TransformStream<Uint8Array>();
  const socket = await connectTo(() => ok(readable));
  const writer = writable.getWriter();
  const answered = read(socket);

  socket.write(GET_SLOW);
  // Node's own timer keeps this time.
  await wait(100);
  await writer.write(Buffer.from('still here'));
  await writer.close();

  expect(await answered).toContain('still here');
});

test('A client that waits for an answer behind a stream keeps its connection', async () => {
  const socket = await connectTo(async ({ path }) => {
    if (path === '/slow') await wait(100);
    return ok(path === '/slow' ? 'at last' : ReadableStream.from([Buffer.from('one')]));
  });
  const answered = read(socket);

  socket.write(GET);
  socket.write(GET_SLOW);

  expect(await answered).toContain('at last');
});
