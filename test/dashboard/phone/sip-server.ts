/** The other end of the phone's socket: takes SIP messages down, and answers as the test says. */
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

const PATIENCE_MS = 5000;

export interface SipRequest {
  readonly method: string;
  readonly text: string;
  readonly body: string;
}

/** Close it when done. */
export class SipServer {
  readonly requests: SipRequest[] = [];
  readonly #server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  #socket: WebSocket | undefined;
  #waiting: (() => void)[] = [];
  #url = '';

  constructor() {
    this.#server.on('connection', (socket) => {
      this.#socket = socket;
      socket.on('message', (data) => this.#take(String(data)));
    });
  }

  static async listen(): Promise<SipServer> {
    const server = new SipServer();
    await new Promise((resolve) => server.#server.once('listening', resolve));
    server.#url = `ws://127.0.0.1:${(server.#server.address() as AddressInfo).port}/sip`;
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** The newest request of a method, once it has come. */
  async request(method: string): Promise<SipRequest> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = this.requests.findLast((request) => request.method === method);
      if (found !== undefined) return found;
      if (performance.now() > deadlineMs) throw new Error(`No ${method} has come`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PATIENCE_MS);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Answers a request, such as `200 OK`. */
  answer({ text }: SipRequest, status: string, body = '', headers: readonly string[] = []): void {
    const to = headerOf(text, 'To');
    const lines = [
      `SIP/2.0 ${status}`,
      `Via: ${headerOf(text, 'Via')}`,
      `From: ${headerOf(text, 'From')}`,
      `To: ${to.includes(';tag=') || status.startsWith('100') ? to : `${to};tag=agent`}`,
      `Call-ID: ${headerOf(text, 'Call-ID')}`,
      `CSeq: ${headerOf(text, 'CSeq')}`,
      'Contact: <sip:agent@server.invalid;transport=ws>',
      ...headers,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
    ];
    this.#socket?.send(`${lines.join('\r\n')}\r\n\r\n${body}`);
  }

  /** Hangs up a call that it has answered. */
  bye({ text }: SipRequest): void {
    const lines = [
      `BYE ${headerOf(text, 'Contact').replace(/^<|>.*$/g, '')} SIP/2.0`,
      'Via: SIP/2.0/WS server.invalid;branch=z9hG4bKbye',
      `From: ${headerOf(text, 'To')};tag=agent`,
      `To: ${headerOf(text, 'From')}`,
      `Call-ID: ${headerOf(text, 'Call-ID')}`,
      'CSeq: 1 BYE',
      'Max-Forwards: 70',
      'Content-Length: 0',
    ];
    this.#socket?.send(`${lines.join('\r\n')}\r\n\r\n`);
  }

  /** Lets the socket go without a word. */
  drop(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#socket?.terminate();
    this.#server.close();
  }

  #take(text: string): void {
    const [method = ''] = text.split(' ', 1);
    const [, body = ''] = text.split('\r\n\r\n', 2);
    this.requests.push({ method, text, body });
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The first header of the name. */
export function headerOf(text: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1]?.trim() ?? '';
}
