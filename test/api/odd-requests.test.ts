/** Requests that are HTTP, but rare, over a real connection to the whole interface. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { connectTo, readAll } from '../support/api/raw-http.ts';
import { LIVE_KEY, openTestApi } from '../support/api/test-api.ts';

async function openConnection(): Promise<Socket> {
  return connectTo((await openTestApi()).app.fetch);
}

async function exchange(lines: readonly string[], body = ''): Promise<string> {
  const socket = await openConnection();
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return readAll(socket);
}

function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
}

const KEY = `Authorization: Bearer ${LIVE_KEY}`;

test('CONNECT closes the connection', async () => {
  expect(await exchange(['CONNECT other.example:80 HTTP/1.1', 'Host: other.example:80'])).toBe('');
});

test('A request of HTTP/1.1 without Host is refused with the envelope', async () => {
  const answer = await exchange(['GET /api/agents HTTP/1.1', KEY, 'Connection: close']);

  expect(bodyOf(answer)).toMatchObject({ error: { code: 'VALIDATION_ERROR', status: 400 } });
});

test.each([
  ['HTTP/1.0 without Host', ['GET /api/agents HTTP/1.0']],
  ['HTTP/1.1 with an empty Host', ['GET /api/agents HTTP/1.1', 'Host:']],
  ['a whole address', ['GET http://a/api/agents HTTP/1.1', 'Host: a']],
])('A request of %s is served', async (_case, lines) => {
  const answer = await exchange([...lines, KEY, 'Connection: close']);

  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test.each([
  ['gzip, chunked', 400, 'expected no Transfer-Encoding but \\"chunked\\"'],
  ['Chunked', 400, 'expected well-formed JSON'],
])('A body of Transfer-Encoding %s is answered %i', async (coding, status, message) => {
  const type = 'Content-Type: application/json';
  const lines = ['POST /api/agents HTTP/1.1', 'Host: a', KEY, type, 'Connection: close'];

  const answer = await exchange([...lines, `Transfer-Encoding: ${coding}`], '1\r\n?\r\n0\r\n\r\n');

  expect(bodyOf(answer)).toMatchObject({ error: { status } });
  expect(answer).toContain(message);
});

test('A client that waits with its body is asked for it where it is needed', async () => {
  const socket = await openConnection();
  const type = 'Content-Type: application/json';
  const lines = ['POST /api/agents HTTP/1.1', 'Host: a', KEY, type, 'Content-Length: 1'];

  socket.write(`${[...lines, 'Expect: 100-continue'].join('\r\n')}\r\n\r\n`);
  const [asked] = await once(socket, 'data');
  socket.write(`?GET /api/agents HTTP/1.1\r\nHost: a\r\n${KEY}\r\nConnection: close\r\n\r\n`);
  const answers = await readAll(socket);

  expect(asked).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200']);
});
