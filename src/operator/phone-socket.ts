/** One browser's WebSocket as SIP sees it: whole messages, so many a second, and a browser that must still be there. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../lib/clock.ts';
import type {
  MessageSocket,
  MessageSocketListener,
  SocketEnd,
} from '../lib/process/message-socket.ts';

/** A call has some ten messages; a key pressed by SIP INFO has two. */
const MESSAGES_A_SECOND_MAX = 50;

/** RFC 6455, 7.4.1. */
const POLICY_VIOLATION = 1008;

/** So many pings in a row without an answer, and nobody is there: a phone that is in a lift comes back sooner. */
const MISSED_MAX = 8;

/** How long a close may take to be answered. */
const CLOSE_MS = 2_000;

const NOBODY: MessageSocketListener = { message: () => undefined, closed: () => undefined };

export class PhoneSocket implements MessageSocket {
  readonly remote: SocketEnd;
  readonly local: SocketEnd;
  readonly isSecure: boolean;
  readonly #webSocket: WebSocket;
  readonly #clock: Clock;
  #listener: MessageSocketListener = NOBODY;
  #secondEndsAtMs = 0;
  #messages = 0;
  #missed = 0;

  constructor(options: {
    readonly webSocket: WebSocket;
    readonly request: IncomingMessage;
    readonly clock: Clock;
    readonly onClosed: () => void;
  }) {
    const { webSocket, request, clock, onClosed } = options;
    const { remoteAddress, remotePort, localAddress, localPort } = request.socket;
    this.remote = endOf(remoteAddress, remotePort);
    this.local = endOf(localAddress, localPort);
    this.isSecure = request.headers.origin?.startsWith('https:') ?? false;
    this.#webSocket = webSocket;
    this.#clock = clock;
    webSocket.on('message', (data) => this.#receive(data));
    webSocket.on('pong', () => {
      this.#missed = 0;
    });
    // Such as a message that is too long: ws closes by itself, and 'close' follows.
    webSocket.on('error', () => undefined);
    webSocket.once('close', () => {
      onClosed();
      this.#listener.closed();
    });
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  get unsentBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  send(bytes: Buffer): void {
    // A text frame must be UTF-8, and text is what browsers expect. RFC 7118, 5.
    if (this.isOpen) this.#webSocket.send(bytes, { binary: !isUtf8(bytes) });
  }

  listen(listener: MessageSocketListener): void {
    this.#listener = listener;
  }

  close(status: number, why: string): void {
    this.#webSocket.close(status, why);
    const cancel = this.#clock.after(CLOSE_MS, () => this.#webSocket.terminate());
    this.#webSocket.once('close', cancel);
  }

  /** Asks whether the browser is there; closes when it has not answered for long. */
  probe(): void {
    if (this.#missed >= MISSED_MAX) {
      this.#webSocket.terminate();
      return;
    }
    this.#missed += 1;
    this.#webSocket.ping();
  }

  #receive(data: RawData): void {
    if (!this.isOpen) return;
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#secondEndsAtMs) {
      this.#secondEndsAtMs = nowMs + 1000;
      this.#messages = 0;
    }
    this.#messages += 1;
    if (this.#messages > MESSAGES_A_SECOND_MAX) {
      this.close(POLICY_VIOLATION, 'too many messages');
      return;
    }
    this.#listener.message(bufferOf(data));
  }
}

function bufferOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** An IPv4 address in IPv6's clothes counts as IPv4. */
function endOf(address = '', port = 0): SocketEnd {
  return { address: address.replace(/^::ffff:(?=\d+\.)/i, ''), port };
}
