/** Keeps the messages of calls, by their Call-ID, while the calls last: what a ladder is drawn from. */
import type { Clock } from '../../lib/clock.ts';
import type { SipMessage } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import { CallTrace } from './call-trace.ts';
import type { MessageTrace } from './message-trace.ts';

/** Calls that were answered: more than one machine holds. At 64 KiB each, and 5 is usual, 64 MiB. */
const ANSWERED_MAX = 1000;

/** Calls that were not answered yet, and whatever strangers send: these make room for each other. */
const UNANSWERED_MAX = 500;
const UNANSWERED_BYTES_MAX = 8 * 1024 * 1024;

/** How long nothing may come before a trace that nobody has asked for is forgotten. */
const FORGET_MS = {
  /** Repeats may come for 64*T1 after the BYE. RFC 3261, 17. */
  over: 64_000,
  /** Longer than any call rings. */
  unanswered: 300_000,
  /** Longer than any call lasts. */
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

/** Holds references to what came and went, and writes nothing until it is asked. Only INVITE begins a trace. */
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

  /** How many calls there is something of. */
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

  /** What there is of the call so far; undefined where there is nothing. */
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

  /** Looked at when messages come: with no messages there is nothing that grows. */
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

/** The value of a header as our own writer writes it; empty where there is none. */
function valueAfter(name: Buffer, bytes: Buffer): string {
  const start = bytes.indexOf(name);
  if (start === -1) return '';
  const valueStart = start + name.length;
  return bytes.toString('latin1', valueStart, bytes.indexOf(LINE_END, valueStart));
}

/** The first word of the start line. */
function wordOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, bytes.indexOf(SPACE));
}
