import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { AnswerBody } from '../../src/api/http/api-answer.ts';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** The port of a server that answers with the body. */
async function serve(
  body: AnswerBody,
  headers: string[] = [],
  { clock = systemClock, log = silentLogger }: { clock?: Clock; log?: Logger } = {},
): Promise<number> {
  const parts = { host: '127.0.0.1', port: 0, newId: () => 'req_0', clock, log };
  const server = new HttpServer({ ...parts, answer: () => ({ status: 200, headers, body }) });
  const port = await server.start();
  onTestFinished(() => server.stop());
  return port;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

test('writeAnswer sends a stream piece by piece, whole', async () => {
  const pieces = Array.from({ length: 50 }, (_, index) => String(index).repeat(5000));
  const port = await serve(ReadableStream.from(pieces.map(bytes)));

  const response = await fetch(`http://127.0.0.1:${port}/`);

  expect(await response.text()).toBe(pieces.join(''));
});

test('writeAnswer sends the headers of a stream before there is anything in it', async () => {
  const port = await serve(new ReadableStream(), ['X-Here', 'yes']);

  const response = await fetch(`http://127.0.0.1:${port}/`);

  expect(response.headers.get('X-Here')).toBe('yes');
  await response.body?.cancel();
});

test('writeAnswer cancels the stream of a client that goes away', async () => {
  const cancelled = Promise.withResolvers<void>();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes('one')),
    cancel: () => cancelled.resolve(),
  });
  const port = await serve(stream);

  const response = await fetch(`http://127.0.0.1:${port}/`);
  await response.body?.cancel();

  await expect(cancelled.promise).resolves.toBeUndefined();
});

test('writeAnswer leaves no listener behind for each piece that had to wait', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const pieces = Array.from({ length: 40 }, () => new Uint8Array(200_000));
  const port = await serve(ReadableStream.from(pieces));

  const response = await fetch(`http://127.0.0.1:${port}/`);
  const { byteLength } = await response.arrayBuffer();

  expect(byteLength).toBe(8_000_000);
  expect(warnings).toEqual([]);
});

test('writeAnswer reads no further in a stream than the client does', async () => {
  let pulled = 0;
  const cancelled = Promise.withResolvers<number>();
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      controller.enqueue(new Uint8Array(1024 * 1024));
    },
    cancel: () => cancelled.resolve(pulled),
  });
  const socket = connect(await serve(stream), '127.0.0.1', () => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.once('data', () => {
      socket.pause();
      setImmediate(() => socket.destroy());
    });
  });

  expect(await cancelled.promise).toBeLessThan(50);
});

test('writeAnswer cuts an answer off whose stream fails: an end would pass for the whole', async () => {
  let pulled = 0;
  const port = await serve(
    new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        if (pulled > 1) controller.error(new Error('the disk is gone'));
        else controller.enqueue(bytes('one'));
      },
    }),
  );

  const response = await fetch(`http://127.0.0.1:${port}/`);

  await expect(response.text()).rejects.toThrow();
});

test('writeAnswer cuts an answer off whose stream ends before the length that was announced', async () => {
  const port = await serve(ReadableStream.from([bytes('one')]), ['Content-Length', '5']);

  const response = await fetch(`http://127.0.0.1:${port}/`);

  await expect(response.text()).rejects.toThrow();
});

test('writeAnswer logs why a stream failed, and nothing of a client that went away', async () => {
  const why = new Error('the disk is gone');
  const logged: unknown[] = [];
  const failed = Promise.withResolvers<void>();
  const log: Logger = {
    ...silentLogger,
    error: (fields) => {
      logged.push(fields);
      failed.resolve();
    },
  };
  const cancelled = Promise.withResolvers<void>();
  const left = await serve(new ReadableStream({ cancel: () => cancelled.resolve() }), [], { log });
  const broken = new ReadableStream({ pull: (controller) => controller.error(why) });
  const port = await serve(broken, [], { log });

  await (await fetch(`http://127.0.0.1:${left}/`)).body?.cancel();
  await cancelled.promise;
  await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
  await failed.promise;

  expect(logged).toEqual([{ err: why }]);
});

test('An answer whose header cannot be written is 500 with the envelope', async () => {
  const port = await serve('hello', ['X-Name', 'a\nb']);

  const response = await fetch(`http://127.0.0.1:${port}/`);

  expect(response.status).toBe(500);
  expect(await response.text()).toContain('INTERNAL_ERROR');
});

test.each([
  'POST',
  'GET',
])('A client that goes on sending what nobody reads is let go half a second after its answer to %s', async (method) => {
  const clock = new FakeClock();
  const socket = connect(await serve('no', ['Content-Length', '2'], { clock }), '127.0.0.1');
  const closed = once(socket, 'close');

  socket.write(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nhello`);
  await once(socket, 'data');
  await expect.poll(() => clock.waiting).toBe(1);
  clock.advance(500);

  await expect(closed).resolves.toBeDefined();
});

test('A client that gets a stream is let go as well when its body does not end', async () => {
  const clock = new FakeClock();
  const socket = connect(await serve(new ReadableStream(), [], { clock }), '127.0.0.1');
  const closed = once(socket, 'close');

  socket.write('GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello');
  await once(socket, 'data');
  clock.advance(500);

  await expect(closed).resolves.toBeDefined();
});

test('A client whose unread body ends in time keeps its connection', async () => {
  const clock = new FakeClock();
  const socket = connect(await serve('no', ['Content-Length', '2'], { clock }), '127.0.0.1');
  onTestFinished(() => void socket.destroy());

  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello');
  await once(socket, 'data');
  socket.write('worldGET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  clock.advance(10_000);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');

  const [again] = await once(socket, 'data');
  expect(String(again)).toMatch(/^HTTP\/1\.1 200 /);
});
