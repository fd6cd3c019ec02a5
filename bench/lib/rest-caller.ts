/** A caller that sends many requests of one kind over a few connections, and does as little as it can besides. */
import { connect, type Socket } from 'node:net';
import type { RestRequest } from './rest-requests.ts';

const CONNECTIONS = 8;

/**
 * Sends so many requests, one at a time on each connection. An HTTP client would take as much of a processor as a server that
 * it measures, and then it would be the client that is measured: here the request is written once, and of an answer only
 * status and length are read.
 *
 * @throws {Error} when one is answered otherwise, or without a length.
 */
export async function sendAll(port: number, request: RestRequest, count: number): Promise<void> {
  const bytes = bytesOf(request, port);
  let left = count;
  const next = () => {
    left -= 1;
    return left >= 0 ? bytes : undefined;
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sendSome(port, request, next)));
}

function bytesOf({ method, path, key, body }: RestRequest, port: number): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'connection: keep-alive',
    `authorization: Bearer ${key}`,
  ];
  if (body !== undefined) {
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

/** @param next gives the bytes of one more request; undefined when there were enough. */
function sendSome(
  port: number,
  { name, status }: RestRequest,
  next: () => Buffer | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const fail = (why: string) => {
      socket.destroy();
      reject(new Error(`Cannot measure "${name}": ${why}`));
    };
    let begun = NOTHING;
    socket.once('connect', () => sendOr(socket, next, resolve));
    socket.on('data', (chunk) => {
      begun = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
      const answer = answerIn(begun);
      if (answer === undefined) return;
      if (answer.status !== status) return fail(`it was answered ${begun.toString()}`);
      if (Number.isNaN(answer.sizeBytes)) return fail('its answer has no length');
      if (begun.length < answer.sizeBytes) return;
      begun = NOTHING;
      sendOr(socket, next, resolve);
    });
    socket.once('error', reject);
    socket.once('end', () => fail('the server hung up'));
  });
}

const NOTHING = Buffer.alloc(0);

function sendOr(socket: Socket, next: () => Buffer | undefined, done: () => void): void {
  const bytes = next();
  if (bytes !== undefined) {
    socket.write(bytes);
    return;
  }
  socket.removeAllListeners('end');
  socket.end();
  done();
}

const LENGTH = /\ncontent-length: *(\d+)/i;

/** Status and whole size of the answer that begins there; undefined while its headers have not all come. */
function answerIn(
  bytes: Buffer,
): { readonly status: number; readonly sizeBytes: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  return { status, sizeBytes: end + 4 + Number(LENGTH.exec(head)?.[1]) };
}
