/** A customer's server: keeps what it was sent, and answers as the test says. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

/** Answers one request; leaving it without an answer hangs it. */
export type Behaviour = (response: ServerResponse, received: Received) => void;

export const answers =
  (status: number, body = ''): Behaviour =>
  (response) =>
    void response.writeHead(status).end(body);

/** Answers every 10 ms all that have come, with 200: however busy the machine, answers come many at a time. */
export function answersTogether(): Behaviour {
  const held: ServerResponse[] = [];
  const timer = setInterval(() => {
    for (const response of held.splice(0)) response.writeHead(200).end();
  }, 10);
  onTestFinished(() => clearInterval(timer));
  return (response) => void held.push(response);
}

export class WebhookReceiver {
  readonly received: Received[] = [];
  readonly port: number;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(port: number) {
    this.port = port;
  }

  /** Opens one on a free port of an address of this machine; it closes with the test. */
  static async open(
    behave: Behaviour = answers(200),
    host = '127.0.0.1',
  ): Promise<WebhookReceiver> {
    const server = createServer((request, response) => {
      void receiver.#take(request, response, behave);
    });
    server.listen(0, host);
    await once(server, 'listening');
    const receiver = new WebhookReceiver((server.address() as AddressInfo).port);
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Event ids in the order of their coming. */
  get ids(): readonly string[] {
    return this.received.map(({ body }) => (JSON.parse(body) as { id: string }).id);
  }

  /** Resolves when `count` requests have come in all. */
  async has(count: number): Promise<void> {
    if (this.received.length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    await promise;
  }

  async #take(request: IncomingMessage, response: ServerResponse, behave: Behaviour) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      atMs: performance.now(),
    };
    this.received.push(received);
    behave(response, received);
    for (const { count, resolve } of this.#waiting) if (this.received.length >= count) resolve();
  }
}
