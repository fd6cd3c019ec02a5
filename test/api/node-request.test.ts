import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { ApiAnswer } from '../../src/api/http/api-answer.ts';
import type { ApiRequest } from '../../src/api/http/api-request.ts';
import { connectTo, readAll } from '../support/raw-http.ts';

type Answer = (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>;

function textAnswer(body: string): ApiAnswer {
  return { status: 200, headers: ['Content-Length', String(Buffer.byteLength(body))], body };
}

/** All that is answered until the server hangs up. */
async function exchange(
  answer: Answer,
  text: string,
  options?: Parameters<typeof connectTo>[1],
): Promise<string> {
  const socket = await connectTo(answer, options);
  socket.write(text);
  return readAll(socket);
}

const CLOSE = 'Host: a\r\nConnection: close\r\n';

test('NodeRequest joins headers of one name, also those of which Node keeps the first', async () => {
  const headers =
    'Authorization: one\r\nX-Forwarded-For: a\r\nauthorization: two\r\nCookie: a=1\r\nCookie: b=2\r\n';

  const answer = await exchange(
    (request) =>
      textAnswer(
        (['authorization', 'cookie', 'x-forwarded-for', 'none'] as const)
          .map((name) => request.header(name))
          .join('|'),
      ),
    `GET / HTTP/1.1\r\n${CLOSE}${headers}\r\n`,
  );

  expect(answer).toContain('\r\n\r\none, two|a=1; b=2|a|');
});

test.each([
  ['announced', 'Content-Length: 5\r\n\r\nhello'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'],
])('NodeRequest reads a body that is %s', async (_how, text) => {
  const answer = await exchange(
    async (request) => textAnswer(String(await request.readBody(5))),
    `POST / HTTP/1.1\r\n${CLOSE}${text}`,
  );

  expect(answer).toMatch(/\r\n\r\nhello$/);
});

test('NodeRequest reads an empty body where none is announced', async () => {
  const answer = await exchange(
    async (request) => textAnswer(`${(await request.readBody(5))?.length} bytes`),
    `POST / HTTP/1.1\r\n${CLOSE}\r\n`,
  );

  expect(answer).toMatch(/\r\n\r\n0 bytes$/);
});

test('NodeRequest reads no more of a body than it was allowed', async () => {
  const answer = await exchange(
    async (request) => textAnswer(String(await request.readBody(4))),
    `POST / HTTP/1.1\r\n${CLOSE}Content-Length: 5\r\n\r\nhello`,
  );

  expect(answer).toMatch(/\r\n\r\nundefined$/);
});

test('NodeRequest.readBody fails when the client goes away before the end', async () => {
  const failed = Promise.withResolvers<unknown>();
  const socket = await connectTo(async (request) => {
    const reading = request.readBody(100);
    reading.catch(failed.resolve);
    socket.destroy();
    await reading;
    return textAnswer('');
  });

  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nhello');

  expect(await failed.promise).toBeInstanceOf(Error);
});

test('NodeRequest.signal is aborted when the client goes away, and not by the end of an answer', async () => {
  const signals: AbortSignal[] = [];
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const socket = await connectTo(({ signal, path }) => {
    signals.push(signal);
    asked[signals.length - 1]?.resolve();
    return path === '/wait' ? new Promise(() => undefined) : textAnswer('hello');
  });

  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await asked[0]?.promise;
  await once(socket, 'data');
  socket.write('GET /wait HTTP/1.1\r\nHost: a\r\n\r\n');
  await asked[1]?.promise;
  const [answered, waiting] = signals;
  const aborted = once(waiting ?? new EventTarget(), 'abort');
  socket.destroy();
  await aborted;

  expect([answered?.aborted, waiting?.aborted]).toEqual([false, true]);
});

test('Requests that come at once are answered in their order', async () => {
  const slow = Promise.withResolvers<ApiAnswer>();
  const answered = exchange(({ path }) => {
    if (path === '/slow') return slow.promise;
    slow.resolve(textAnswer('slow'));
    return textAnswer('quick');
  }, `GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /quick HTTP/1.1\r\n${CLOSE}\r\n`);

  expect((await answered).match(/slow|quick/g)).toEqual(['slow', 'quick']);
});

test('NodeRequest of HTTP/1.0 without Host has the address that we listen on, IPv6 as well', async () => {
  const answer = await exchange(({ host }) => textAnswer(host), 'GET / HTTP/1.0\r\n\r\n', {
    host: '::',
  });

  expect(answer).toMatch(/\r\n\r\n\[::\]$/);
});
