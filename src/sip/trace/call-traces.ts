/** SIP traces: the messages of each call, by Call-ID, for the ladder diagram. */

import { isUtf8 } from 'node:buffer';
import type { Clock } from '../../lib/clock.ts';
import { SipMessage } from '../message/message.ts';
import type { Endpoint, Flow, Protocol } from '../transport/flow.ts';

/** Calls that were answered: more than one machine holds. At 64 KiB each, and 5 is usual, 64 MiB. */
const ANSWERED_MAX = 1000;

/** Unanswered calls, and requests of strangers; the oldest make room for new ones. */
const UNANSWERED_MAX = 500;
const UNANSWERED_BYTES_MAX = 8 * 1024 * 1024;

/** Time without messages after which an unread trace is dropped. */
const FORGET_MS = {
  /** Retransmissions may follow for 64*T1 after the BYE. RFC 3261, 17. */
  over: 64_000,
  /** Longer than any call rings. */
  unanswered: 300_000,
  /** Longer than any call. */
  answered: 18_000_000,
} as const;

/** Between two looks at what can be forgotten. */
const SWEEP_MS = 30_000;

const CALL_ID = Buffer.from('\r\nCall-ID: ');
const CSEQ = Buffer.from('\r\nCSeq: ');
const RESPONSE_START = 'SIP/2.0 ';
const LINE_END = 0x0d;
const SPACE = 0x20;
const DIGIT_2 = 0x32;

/** Holds references to the messages and serialises nothing before it is read. Only an INVITE starts a trace. */
export class CallTraces implements MessageTrace {
  readonly #clock: Clock;
  readonly #unanswered = new Map<string, CallTrace>();
  readonly #answered = new Map<string, CallTrace>();
  #unansweredBytes = 0;
  #sweptAtMs: number;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
    this.#sweptAtMs = clock.nowMs();
  }

  /** Number of calls with a trace. */
  get size(): number {
    return this.#unanswered.size + this.#answered.size;
  }

  received(message: SipMessage, flow: Flow): void {
    const { callId, method } = message;
    const trace = this.#traceFor(callId, method === 'INVITE');
    if (trace === undefined) return;
    this.#add(trace, message.wire ?? message.clone(), flow, true);
    if (method === 'BYE') trace.isOver = true;
    const isAnswer = message.status >= 200 && message.status < 300;
    if (isAnswer && message.get('cseq')?.endsWith('INVITE')) this.#answer(callId, trace);
    this.#makeRoom(trace.lastAtMs);
  }

  sent(bytes: Buffer, flow: Flow): void {
    const callId = valueAfter(CALL_ID, bytes);
    const method = wordOf(bytes);
    const trace = this.#traceFor(callId, method === 'INVITE');
    if (trace === undefined) return;
    this.#add(trace, bytes, flow, false);
    if (method === 'BYE') trace.isOver = true;
    const isAnswer = method === 'SIP/2.0' && bytes[RESPONSE_START.length] === DIGIT_2;
    if (isAnswer && valueAfter(CSEQ, bytes).endsWith('INVITE')) this.#answer(callId, trace);
    this.#makeRoom(trace.lastAtMs);
  }

  /** Trace of the call so far; undefined without one. */
  get(callId: string): CallTrace | undefined {
    return this.#answered.get(callId) ?? this.#unanswered.get(callId);
  }

  forget(callId: string): void {
    this.#answered.delete(callId);
    const trace = this.#unanswered.get(callId);
    if (trace !== undefined) this.#dropUnanswered(callId, trace);
  }

  #traceFor(callId: string, mayBegin: boolean): CallTrace | undefined {
    const known = this.get(callId);
    if (known !== undefined || !mayBegin || callId === '') return known;
    const trace = new CallTrace();
    this.#unanswered.set(callId, trace);
    return trace;
  }

  #add(trace: CallTrace, wire: Buffer | SipMessage, flow: Flow, isIncoming: boolean): void {
    const bytesBefore = trace.bytes;
    trace.add(wire, flow, { atMs: this.#clock.nowMs(), isIncoming });
    if (!trace.isAnswered) this.#unansweredBytes += trace.bytes - bytesBefore;
  }

  #answer(callId: string, trace: CallTrace): void {
    if (trace.isAnswered) return;
    this.#dropUnanswered(callId, trace);
    trace.isAnswered = true;
    this.#answered.set(callId, trace);
  }

  #makeRoom(nowMs: number): void {
    while (this.#unanswered.size > UNANSWERED_MAX || this.#unansweredBytes > UNANSWERED_BYTES_MAX) {
      const [oldest] = this.#unanswered;
      if (oldest === undefined) break;
      this.#dropUnanswered(...oldest);
    }
    const [oldest] = this.#answered.size > ANSWERED_MAX ? this.#answered.keys() : [];
    if (oldest !== undefined) this.#answered.delete(oldest);
    if (nowMs - this.#sweptAtMs >= SWEEP_MS) this.#sweep(nowMs);
  }

  /** Runs when messages arrive: without messages nothing grows. */
  #sweep(nowMs: number): void {
    this.#sweptAtMs = nowMs;
    for (const [callId, trace] of [...this.#unanswered, ...this.#answered]) {
      const state = trace.isAnswered ? 'answered' : 'unanswered';
      if (nowMs - trace.lastAtMs > FORGET_MS[trace.isOver ? 'over' : state]) this.forget(callId);
    }
  }

  #dropUnanswered(callId: string, trace: CallTrace): void {
    this.#unanswered.delete(callId);
    this.#unansweredBytes -= trace.bytes;
  }
}

/** Value of a header in a message of our own; empty without one. */
function valueAfter(name: Buffer, bytes: Buffer): string {
  const start = bytes.indexOf(name);
  if (start === -1) return '';
  const valueStart = start + name.length;
  return bytes.toString('latin1', valueStart, bytes.indexOf(LINE_END, valueStart));
}

/** First word of the start line. */
function wordOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, bytes.indexOf(SPACE));
}

/** Messages kept per call. */
export const TRACE_MESSAGES_MAX = 100;

/** The beginning and the end of a call tell more than the middle. */
const FIRST = { messages: 60, bytes: 40 * 1024 } as const;
const LAST = { messages: TRACE_MESSAGES_MAX - FIRST.messages, bytes: 24 * 1024 } as const;

/** Octets kept per message; a WebRTC offer has 3,000. */
export const MESSAGE_BYTES_KEPT = 16 * 1024;

/** A message of a trace, with its time, direction and addresses. */
export interface TracedMessage {
  readonly atMs: number;
  readonly isIncoming: boolean;
  readonly protocol: Protocol;
  readonly local: Endpoint;
  readonly remote: Endpoint;
  /** The received datagram, or a copy of the message of a stream. */
  readonly wire: Buffer | SipMessage;
}

/** Messages of one Call-ID: the first and the last ones, within limits. */
export class CallTrace {
  readonly #first: TracedMessage[] = [];
  readonly #last: TracedMessage[] = [];
  #firstBytes = 0;
  #lastBytes = 0;
  /** Whether something is missing. */
  isTruncated = false;
  /** Whether an INVITE was answered with 2xx. */
  isAnswered = false;
  /** Whether a BYE was sent or received. */
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
    // A copy, to release the rest of the buffer.
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

/** Observer of every message. Must be fast and must not throw. May observe several engines. */
export interface MessageTrace {
  /** A message was parsed, and not yet handled. It may change afterwards: keep a copy. */
  received(message: SipMessage, flow: Flow): void;

  /** A message has left, repeats among them. The octets never change. */
  sent(bytes: Buffer, flow: Flow): void;
}

/** Text of a traced message without credentials, passwords and media keys: UTF-8 if valid, otherwise latin1. */
const REMOVED = '(removed)';

/** Authorization headers with their continuation lines. RFC 3261, 7.3.1. */
const CREDENTIALS = /^((?:proxy-)?authorization[ \t]*:)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;

/**
 * `sip:user:password@host`. RFC 3261, 19.1.1: sending it is not recommended, and some do. With limits, so that a message
 * full of beginnings costs no more than one without.
 */
const URI_PASSWORD = /(sips?:[^\s:@<>"]{1,256}):[^\s@<>"]{0,512}@/gi;

/** Keys of SDES, of the obsolete k= line, and of ICE. RFC 4568, 9.1; RFC 8839, 5.4. */
const SDP_KEYS = /^(a=crypto:\d+ \S+ |k=|a=ice-pwd:)[^\r\n]*/gim;

/** Text of a traced message, without credentials, passwords and SRTP keys. */
export function traceText({ wire }: Pick<TracedMessage, 'wire'>): string {
  const bytes = wire instanceof SipMessage ? wire.toBuffer() : wire;
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  return text
    .replace(CREDENTIALS, `$1 ${REMOVED}`)
    .replace(URI_PASSWORD, `$1:${REMOVED}@`)
    .replace(SDP_KEYS, `$1${REMOVED}`);
}
