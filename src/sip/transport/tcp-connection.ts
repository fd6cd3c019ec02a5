/** One connection of the TCP or TLS transport: framing, keep-alive, and the limits on slow and idle peers. */
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { SipError } from '../message/status.ts';
import { type StreamFrame, StreamFramer } from '../parser/stream-framer.ts';
import { type Endpoint, type Flow, PING, PONG } from './flow.ts';

/** Limits of one connection. */
export interface ConnectionLimits {
  /** A connection that no transaction and no dialog needs is closed after that long a silence. */
  readonly idleMs: number;
  /** Time limit from the first octet of a message to its last. */
  readonly messageMs: number;
  /** Unread data at which the connection to a peer is closed. */
  readonly unsentBytesMax: number;
}

/** Default limits of a connection. */
export const STANDARD_CONNECTION_LIMITS: ConnectionLimits = {
  idleMs: 120_000,
  messageMs: 5_000,
  unsentBytesMax: 1024 * 1024,
};

/** How long a connection may be silent before the kernel asks whether its peer still lives. */
const KEEP_ALIVE_MS = 60_000;

/** How long the answer to keep-alive may take. RFC 5626, 4.4.1. */
const PONG_MS_MAX = 10_000;

/** Parts of one connection. */
export interface TcpConnectionOptions {
  readonly protocol: 'TCP' | 'TLS';
  /** Connected; with TLS, the secured stream. */
  readonly socket: Socket;
  readonly remote: Endpoint;
  /** Our address for this peer. */
  readonly localFor: () => Endpoint;
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  /** Whether keep-alive gets no answer, as long as no transaction and no dialog needs the connection. */
  readonly isSilent?: (() => boolean) | undefined;
  readonly onFrame: (frame: StreamFrame, flow: Flow) => void;
  readonly onClose: () => void;
  /** Called before `onClose` when the connection breaks, such as by a TLS alert of the peer after the handshake. */
  readonly onBroken?: ((error: Error) => void) | undefined;
}

/** One TCP connection that SIP goes over, plain or secured by TLS: framing, keep-alive, and the limits on slow and idle peers. */
export class TcpConnection implements Flow {
  readonly protocol: 'TCP' | 'TLS';
  readonly isReliable = true;
  readonly remote: Endpoint;
  readonly #options: TcpConnectionOptions;
  readonly #socket: Socket;
  readonly #framer = new StreamFramer();
  readonly #closeListeners = new Set<() => void>();
  #isOpen = true;
  readonly #frames: StreamFrame[] = [];
  #isDelivering = false;
  #heardAtMs: number;
  #cancelIdle: () => void = () => undefined;
  #cancelPong: (() => void) | undefined;
  #isPongDue = false;
  /** Whether the peer answers keep-alive: only then is its silence a fault. */
  #hasPonged = false;
  #cancelSlow: (() => void) | undefined;

  constructor(options: TcpConnectionOptions) {
    this.#options = options;
    this.protocol = options.protocol;
    this.remote = options.remote;
    this.#socket = options.socket;
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // 'close' follows every 'error'.
    this.#socket.on('error', (error) => options.onBroken?.(error));
    this.#socket.on('close', () => this.#closed());
    this.#heardAtMs = options.clock.nowMs();
    this.#watchIdle(options.limits.idleMs);
  }

  get local(): Endpoint {
    return this.#options.localFor();
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#socket.writable;
  }

  send(bytes: Buffer): void {
    if (!this.isOpen)
      throw new SipError(503, `Cannot send by ${this.protocol}: connection is closed`);
    if (this.#socket.writableLength > this.#options.limits.unsentBytesMax) {
      this.abort();
      throw new SipError(503, `Cannot send by ${this.protocol}: peer has stopped reading`);
    }
    this.#socket.write(bytes);
  }

  keepAlive(): void {
    if (!this.isOpen || this.#cancelPong !== undefined) return;
    const { clock } = this.#options;
    const sentAtMs = clock.nowMs();
    // Sent even behind unsent data: without a ping, a peer that has no data to send would be given up for its silence.
    this.#socket.write(PING);
    this.#isPongDue = true;
    this.#cancelPong = clock.after(PONG_MS_MAX, () => {
      this.#cancelPong = undefined;
      if (this.#hasPonged && this.#heardAtMs <= sentAtMs) this.abort();
    });
  }

  onClosed(listener: () => void): () => void {
    this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  close(): void {
    this.#socket.destroySoon();
    this.#closed();
  }

  /** Closes without flushing pending writes. */
  abort(): void {
    this.#socket.destroy();
    this.#closed();
  }

  #receive(chunk: Buffer): void {
    this.#heardAtMs = this.#options.clock.nowMs();
    const frames = this.#framer.push(this.#withoutPong(chunk));
    this.#watchSlow(frames.length > 0);
    this.#frames.push(...frames);
    if (this.#frames.length === 0 || this.#isDelivering) return;
    this.#isDelivering = true;
    this.#deliver();
  }

  /**
   * Delivers one message per turn of the event loop: promises that follow from a 2xx settle before the request in the
   * same packet. The socket is paused meanwhile, which bounds the queue.
   */
  #deliver(): void {
    const frame = this.#frames.shift();
    this.#isDelivering = frame !== undefined && this.#isOpen;
    if (frame === undefined || !this.#isOpen) {
      this.#socket.resume();
      return;
    }
    if (this.#frames.length > 0) this.#socket.pause();
    setImmediate(() => this.#deliver());
    if (frame.kind === 'ping') this.#pong();
    else this.#options.onFrame(frame, this);
  }

  /** Drops the peer's answer to our keep-alive (one CRLF), which would read as the first half of the peer's own (two). */
  #withoutPong(chunk: Buffer): Buffer {
    const isPong = chunk.subarray(0, 2).equals(PONG) && !chunk.subarray(0, 4).equals(PING);
    if (!this.#isPongDue || this.#framer.isWaiting || !isPong) return chunk;
    this.#isPongDue = false;
    this.#hasPonged = true;
    return chunk.subarray(PONG.length);
  }

  /** Answers a double line break with a single one. RFC 5626, 4.4.1. */
  #pong(): void {
    if (this.#closeListeners.size === 0 && this.#options.isSilent?.() === true) return;
    if (this.isOpen && this.#socket.writableLength === 0) this.#socket.write(PONG);
  }

  #watchIdle(waitMs: number): void {
    const { clock, limits } = this.#options;
    this.#cancelIdle = clock.after(waitMs, () => {
      const idleMs = clock.nowMs() - this.#heardAtMs;
      // A close listener means that a transaction or dialog still needs the connection: a call may be silent for
      // long.
      if (this.#closeListeners.size > 0) this.#watchIdle(limits.idleMs);
      else if (idleMs < limits.idleMs) this.#watchIdle(limits.idleMs - idleMs);
      else this.abort();
    });
  }

  /** Counted from the first octet of a message, so that a drip of octets does not put it off. */
  #watchSlow(hasNewMessage: boolean): void {
    if (hasNewMessage || !this.#framer.isWaiting) {
      this.#cancelSlow?.();
      this.#cancelSlow = undefined;
    }
    if (!this.#framer.isWaiting) return;
    const { clock, limits } = this.#options;
    this.#cancelSlow ??= clock.after(limits.messageMs, () => this.abort());
  }

  #closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelIdle();
    this.#cancelSlow?.();
    this.#cancelPong?.();
    this.#options.onClose();
    for (const listener of [...this.#closeListeners]) listener();
    this.#closeListeners.clear();
  }
}
