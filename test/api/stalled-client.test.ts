import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AnswerBody } from '../../src/api/http/api-answer.ts';
import type { HttpServerOptions } from '../../src/api/http/http-server.ts';
import { connectTo, readAll } from '../support/raw-http.ts';

/** A connection to a server that hangs up on a client which takes nothing for 20 ms. */
const connectHasty = (answer: HttpServerOptions['answer']) => connectTo(answer, { stalledMs: 20 });

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
  const socket = await connectHasty(() => ok(stream));

  socket.pause();
  socket.write(GET);

  await expect(cancelled.promise).resolves.toBeUndefined();
});

test('A client that has stopped reading a long text is hung up on', async () => {
  const gone = Promise.withResolvers<void>();
  const socket = await connectHasty(({ signal }) => {
    signal.addEventListener('abort', () => gone.resolve());
    return ok('x'.repeat(64 * 1024 * 1024));
  });

  socket.pause();
  socket.write(GET);

  await expect(gone.promise).resolves.toBeUndefined();
});

test('A client to which a stream has nothing to send keeps its connection', async () => {
  const { readable, writable } = new TransformStream<Uint8Array>();
  const socket = await connectHasty(() => ok(readable));
  const writer = writable.getWriter();
  const answered = readAll(socket);

  socket.write(GET_SLOW);
  // Node's own timer keeps this time.
  await wait(100);
  await writer.write(Buffer.from('still here'));
  await writer.close();

  expect(await answered).toContain('still here');
});

test('A client that waits for an answer behind a stream keeps its connection', async () => {
  const socket = await connectHasty(async ({ path }) => {
    if (path === '/slow') await wait(100);
    return ok(path === '/slow' ? 'at last' : ReadableStream.from([Buffer.from('one')]));
  });
  const answered = readAll(socket);

  socket.write(GET);
  socket.write(GET_SLOW);

  expect(await answered).toContain('at last');
});
