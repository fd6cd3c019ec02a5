/** The messages of one Call-ID: the first ones and the last ones, within bounds. */
import { SipMessage } from '../message/message.ts';
import type { Endpoint, Flow, Protocol } from '../transport/flow.ts';

/** Messages that are kept of a call. */
export const TRACE_MESSAGES_MAX = 100;

/** How a call began, and how it ended, say more than what was in between. */
const FIRST = { messages: 60, bytes: 40 * 1024 } as const;
const LAST = { messages: TRACE_MESSAGES_MAX - FIRST.messages, bytes: 24 * 1024 } as const;

/** Octets that are kept of a call. */
export const TRACE_BYTES_MAX = FIRST.bytes + LAST.bytes;

/** Octets that are kept of one message; an offer of WebRTC has 3,000. */
export const MESSAGE_BYTES_KEPT = 16 * 1024;

export interface TracedMessage {
  readonly atMs: number;
  readonly isIncoming: boolean;
  readonly protocol: Protocol;
  readonly local: Endpoint;
  readonly remote: Endpoint;
  /** As it was on the wire, or a copy of what was read from a stream. */
  readonly wire: Buffer | SipMessage;
}

export class CallTrace {
  readonly #first: TracedMessage[] = [];
  readonly #last: TracedMessage[] = [];
  #firstBytes = 0;
  #lastBytes = 0;
  /** Whether something is missing. */
  isTruncated = false;
  /** Whether an INVITE was answered with 2xx. */
  isAnswered = false;
  /** Whether somebody has said BYE. */
  isOver = false;
  lastAtMs = 0;

  get messages(): readonly TracedMessage[] {
    return [...this.#first, ...this.#last];
  }

  get bytes(): number {
    return this.#firstBytes + this.#lastBytes;
  }

  add(wire: Buffer | SipMessage, flow: Flow, facts: { atMs: number; isIncoming: boolean }): void {
    const { protocol, local, remote } = flow;
    const kept = this.#shortened(wire);
    const bytes = sizeOf(kept);
    this.lastAtMs = facts.atMs;
    const message = { ...facts, protocol, local, remote, wire: kept };
    const isRoom = this.#first.length < FIRST.messages && this.#firstBytes + bytes <= FIRST.bytes;
    if (isRoom && this.#last.length === 0) {
      this.#first.push(message);
      this.#firstBytes += bytes;
      return;
    }
    this.#last.push(message);
    this.#lastBytes += bytes;
    this.#dropMiddle();
  }

  #dropMiddle(): void {
    while (this.#last.length > LAST.messages || this.#lastBytes > LAST.bytes) {
      const [oldest] = this.#last.splice(0, 1);
      if (oldest === undefined) return;
      this.#lastBytes -= sizeOf(oldest.wire);
      this.isTruncated = true;
    }
  }

  #shortened(wire: Buffer | SipMessage): Buffer | SipMessage {
    if (sizeOf(wire) <= MESSAGE_BYTES_KEPT) return wire;
    this.isTruncated = true;
    const bytes = wire instanceof SipMessage ? wire.toBuffer() : wire;
    // A copy, so that the rest is let go.
    return Buffer.from(bytes.subarray(0, MESSAGE_BYTES_KEPT));
  }
}

function sizeOf(wire: Buffer | SipMessage): number {
  if (!(wire instanceof SipMessage)) return wire.length;
  return wire.headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    wire.body.length + wire.uri.length + wire.reason.length + 32,
  );
}
