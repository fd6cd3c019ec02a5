/** An HTTP server that answers by a script: one step for each request, the last one for all that follow. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** How one request is answered. */
export type Step = (response: ServerResponse, request: IncomingMessage) => void;

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  readonly atMs: number;
}

export class FaultServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #steps: readonly Step[] = [];
  #seen: SeenRequest[] = [];

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      // Clients that give up cut their connections.
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Requests since the script was given. */
  get seen(): readonly SeenRequest[] {
    return this.#seen;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Begins a new script; requests that still wait are cut. */
  script(steps: readonly Step[]): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#steps = steps;
    this.#seen = [];
  }

  /** Safe to call twice. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(chunks).toString();
      const step = this.#steps[Math.min(this.#seen.length, this.#steps.length - 1)];
      // A client that kept the connection could meet the cut of the next script instead.
      response.shouldKeepAlive = false;
      this.#seen.push({ method, url, headers, body, atMs: performance.now() });
      step?.(response, request);
    });
    // The client has gone: there is nothing to answer.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
  }
}

/** Answers with JSON. */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Step {
  return text(status, JSON.stringify(value), { 'Content-Type': 'application/json', ...headers });
}

/** Answers with the error envelope. */
export function errorStep(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  details?: readonly object[],
): Step {
  const error = { code, message: 'Cannot do it: it is a test', status, requestId: 'req_fault' };
  const body = { error: details === undefined ? error : { ...error, details } };
  return json(status, body, { 'X-Request-Id': 'req_fault', ...headers });
}

/** Answers with any text. */
export function text(status: number, body: string, headers: Record<string, string> = {}): Step {
  return (response) => response.writeHead(status, headers).end(body);
}

/** Cuts the connection before any answer. */
export const cut: Step = (response) => response.destroy();

/** Sends half of the headers, then cuts the connection. */
export const cutInHeaders: Step = (response) => {
  response.socket?.end('HTTP/1.1 200 OK\r\nContent-Type: applic');
};

/** Promises more than it sends, then cuts the connection. */
export function cutInBody(body: string, contentType = 'application/json'): Step {
  return (response) => {
    response.writeHead(200, { 'Content-Type': contentType, 'Content-Length': body.length + 100 });
    response.write(body, () => response.destroy());
  };
}

/** Never answers. */
export const silence: Step = () => undefined;

/** Sends the headers and then one byte at a time, for as long as the client takes them. */
export function trickle(everyMs: number): Step {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const timer = setInterval(() => response.write(' '), everyMs);
    response.on('close', () => clearInterval(timer));
  };
}
