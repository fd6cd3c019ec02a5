/** WebSocket transport: each socket is a flow, and each of its messages is one SIP message. RFC 7118. */
import type { MessageSocket } from '../../lib/process/message-socket.ts';
import { SipError } from '../message/status.ts';
import { type Endpoint, type Flow, PING, PONG } from './flow.ts';

/** Limit of undelivered messages; a regular peer waits for responses long before. */
const WAITING_MAX = 64;

/** Unread data at which the connection to a peer is closed. */
const UNSENT_BYTES_MAX = 256 * 1024;

/** RFC 6455, 7.4.1. */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

interface WsConnectionOptions {
  readonly socket: MessageSocket;
  readonly onMessage: (bytes: Buffer, flow: Flow) => void;
  readonly onClose: () => void;
}

/**
 * One WebSocket. A browser has no reachable address (its Via and Contact end in `.invalid`), so all messages to it
 * use the socket that it opened.
 *
 * @see RFC 7118 section 5
 */
export class WsConnection implements Flow {
  readonly isReliable = true;
  readonly #options: WsConnectionOptions;
  readonly #closeListeners = new Set<() => void>();
  readonly #waiting: Buffer[] = [];
  #isDelivering = false;
  #isOpen: boolean;

  constructor(options: WsConnectionOptions) {
    const { socket } = options;
    this.#options = options;
    this.#isOpen = socket.isOpen;
    socket.listen({
      message: (bytes) => this.#receive(bytes),
      closed: () => this.#closed(),
    });
  }

  get protocol(): 'WS' | 'WSS' {
    return this.#options.socket.isSecure ? 'WSS' : 'WS';
  }

  get remote(): Endpoint {
    return this.#options.socket.remote;
  }

  get local(): Endpoint {
    return this.#options.socket.local;
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#options.socket.isOpen;
  }

  send(bytes: Buffer): void {
    const { socket } = this.#options;
    if (!this.isOpen) throw new SipError(503, 'Cannot send by WebSocket: it is closed');
    if (socket.unsentBytes > UNSENT_BYTES_MAX) {
      this.#end(POLICY_VIOLATION, 'stopped reading');
      throw new SipError(503, 'Cannot send by WebSocket: peer has stopped reading');
    }
    socket.send(bytes);
  }

  /** The browser's side sends them. RFC 7118, 6. */
  keepAlive(): void {}

  onClosed(listener: () => void): () => void {
    this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  close(): void {
    this.#end(GOING_AWAY, 'bye');
  }

  #receive(bytes: Buffer): void {
    if (!this.#isOpen) return;
    if (bytes.equals(PING)) {
      this.#options.socket.send(PONG);
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      this.#end(POLICY_VIOLATION, 'too many messages at once');
      return;
    }
    // Pong, or a line break between messages.
    if (bytes.length <= PONG.length) return;
    this.#waiting.push(bytes);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    setImmediate(() => this.#deliver());
  }

  /** Delivers one message per turn of the event loop: promises that a 2xx resolves run before the next request. */
  #deliver(): void {
    const bytes = this.#waiting.shift();
    this.#isDelivering = bytes !== undefined && this.#isOpen;
    if (bytes === undefined || !this.#isOpen) return;
    setImmediate(() => this.#deliver());
    this.#options.onMessage(bytes, this);
  }

  #end(status: number, why: string): void {
    this.#options.socket.close(status, why);
    this.#closed();
  }

  #closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#waiting.length = 0;
    this.#options.onClose();
    for (const listener of [...this.#closeListeners]) listener();
    this.#closeListeners.clear();
  }
}
