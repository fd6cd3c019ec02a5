import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { HttpServerOptions } from '../../src/api/http/http-server.ts';
import { connectTo, readAll } from '../support/api/raw-http.ts';

/** A connection to a server that hangs up on a client which takes nothing for 20 ms. */
const connectHasty = (fetch: HttpServerOptions['fetch']) => connectTo(fetch, { stalledMs: 20 });

function ok(body: string | ReadableStream) {
  return new Response(body);
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
  const socket = await connectHasty(async ({ signal }) => {
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
  const socket = await connectHasty(async ({ url }) => {
    const isSlow = url.endsWith('/slow');
    if (isSlow) await wait(100);
    return ok(isSlow ? 'at last' : ReadableStream.from([Buffer.from('one')]));
  });
  const answered = readAll(socket);

  socket.write(GET);
  socket.write(GET_SLOW);

  expect(await answered).toContain('at last');
});
