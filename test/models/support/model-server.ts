/** A server of small files for tests of downloads, which can be told to behave badly. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ModelServer {
  readonly origin: string;
  /** In the order they came. */
  readonly seen: readonly SeenRequest[];
  /** Path to bytes; served with length, `ETag` and ranges. */
  readonly files: Map<string, Buffer>;
  /** Path to what answers instead, so many times; then the file is served again. */
  readonly instead: Map<string, Handler[]>;
  stop(): Promise<void>;
}

/** Serves until the test is over. */
export async function startModelServer(): Promise<ModelServer> {
  const seen: SeenRequest[] = [];
  const files = new Map<string, Buffer>();
  const instead = new Map<string, Handler[]>();
  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname);
    seen.push({ path, headers: request.headers });
    const handler = instead.get(path)?.shift();
    if (handler !== undefined) handler(request, response);
    else serveFile(request, response, files.get(path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  return { origin: `http://127.0.0.1:${port}`, seen, files, instead, stop };
}

/** Answers as any file server does. */
export function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer | undefined,
): void {
  if (bytes === undefined) {
    response.writeHead(404).end('not here');
    return;
  }
  const etag = `"${sha256(bytes).slice(0, 16)}"`;
  const from = rangeStart(request, etag);
  if (from !== null && from >= bytes.length) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}`, etag }).end();
    return;
  }
  const body = from === null ? bytes : bytes.subarray(from);
  response.writeHead(from === null ? 200 : 206, {
    'content-length': body.length,
    etag,
    ...(from === null
      ? {}
      : { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
  });
  response.end(body);
}

function rangeStart(request: IncomingMessage, etag: string): number | null {
  const condition = request.headers['if-range'];
  if (condition !== undefined && condition !== etag) return null;
  const start = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
  return start === undefined ? null : Number(start);
}

/** Sends the beginning of a file, and then cuts the connection: data that the other end has not read yet is lost. */
export function cutAfter(bytes: Buffer, sent: number, isRead?: Promise<void>): Handler {
  return (_request, response) => {
    const etag = `"${sha256(bytes).slice(0, 16)}"`;
    response.writeHead(200, { 'content-length': bytes.length, etag });
    response.write(bytes.subarray(0, sent), () =>
      (isRead ?? wait(20)).then(() => response.destroy()),
    );
  };
}

/** Answers with a status and headers only. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): Handler {
  return (_request, response) => {
    response.writeHead(code, headers).end();
  };
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Bytes that differ everywhere, the same for the same seed. */
export function someBytes(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
