/** SIP traces: the messages of each call, by Call-ID, for the ladder diagram. */
import { isUtf8 } from 'node:buffer';
import { BoundedMap } from '../lib/bounded-map.ts';
import type { Clock } from '../lib/clock.ts';
import type { SipMessage } from './message/message.ts';
import type { Endpoint, Flow, Protocol } from './transport/flow.ts';

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

/** Interval between two sweeps of traces that can be forgotten. */
const SWEEP_MS = 30_000;

/** Holds the octets of the messages. Only an INVITE starts a trace. */
export class CallTraces implements MessageTrace {
  readonly #clock: Clock;
  readonly #unanswered = new Map<string, CallTrace>();
  readonly #answered = new BoundedMap<string, CallTrace>(ANSWERED_MAX);
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
    const { callId, method, status } = message;
    const bytes = message.wire ?? message.toBuffer();
    const facts = { callId, method, status, cseq: message.get('cseq') ?? '' };
    this.#note(facts, bytes, { flow, isIncoming: true });
  }

  sent(bytes: Buffer, flow: Flow): void {
    const text = bytes.toString('latin1');
    const [, status = 0, method = ''] = /^(?:SIP\/2\.0 (\d+)|(\S+))/.exec(text) ?? [];
    const [, callId = ''] = /\r\nCall-ID: (.*)/.exec(text) ?? [];
    const [, cseq = ''] = /\r\nCSeq: (.*)/.exec(text) ?? [];
    const facts = { callId, method, status: Number(status), cseq };
    this.#note(facts, bytes, { flow, isIncoming: false });
  }

  #note(
    { callId, method, status, cseq }: MessageFacts,
    bytes: Buffer,
    way: { readonly flow: Flow; readonly isIncoming: boolean },
  ): void {
    const trace = this.#traceFor(callId, method === 'INVITE');
    if (trace === undefined) return;
    const bytesBefore = trace.bytes;
    const { flow, isIncoming } = way;
    trace.add(bytes, flow, { atMs: this.#clock.nowMs(), isIncoming });
    if (!trace.isAnswered) this.#unansweredBytes += trace.bytes - bytesBefore;
    if (method === 'BYE') trace.isOver = true;
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && cseq.endsWith('INVITE')) this.#answer(callId, trace);
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
    const calendarAheadMs = this.#clock.now().getTime() - Math.floor(this.#clock.nowMs());
    const trace = new CallTrace(calendarAheadMs);
    this.#unanswered.set(callId, trace);
    return trace;
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
    if (nowMs - this.#sweptAtMs >= SWEEP_MS) this.#sweep(nowMs);
  }

  /** Runs only when messages arrive: without messages no trace grows. */
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

interface MessageFacts {
  readonly callId: string;
  /** Empty for a response. */
  readonly method: string;
  readonly status: number;
  readonly cseq: string;
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
  /** Instant of the clock that never goes back. */
  readonly atMs: number;
  readonly isIncoming: boolean;
  readonly protocol: Protocol;
  readonly local: Endpoint;
  readonly remote: Endpoint;
  readonly wire: Buffer;
}

/** Messages of one Call-ID: the first and the last ones, within limits. */
export class CallTrace {
  /** From an instant of a message to the calendar, as that was when the trace began: it may be set during the call. */
  readonly calendarAheadMs: number;
  readonly #first: TracedMessage[] = [];
  readonly #last: TracedMessage[] = [];
  #firstBytes = 0;
  #lastBytes = 0;
  /** Whether the trace is incomplete. */
  isTruncated = false;
  /** Whether an INVITE was answered with 2xx. */
  isAnswered = false;
  /** Whether a BYE was sent or received. */
  isOver = false;
  lastAtMs = 0;

  constructor(calendarAheadMs = 0) {
    this.calendarAheadMs = calendarAheadMs;
  }

  get messages(): readonly TracedMessage[] {
    return [...this.#first, ...this.#last];
  }

  get bytes(): number {
    return this.#firstBytes + this.#lastBytes;
  }

  add(wire: Buffer, flow: Flow, facts: { atMs: number; isIncoming: boolean }): void {
    const { protocol, local, remote } = flow;
    const kept = this.#shortened(withoutKeys(wire));
    const bytes = kept.length;
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
      this.#lastBytes -= oldest.wire.length;
      this.isTruncated = true;
    }
  }

  #shortened(wire: Buffer): Buffer {
    if (wire.length <= MESSAGE_BYTES_KEPT) return wire;
    this.isTruncated = true;
    // A copy, to release the rest of the buffer.
    return Buffer.from(wire.subarray(0, MESSAGE_BYTES_KEPT));
  }
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
  const text = wire.toString(isUtf8(wire) ? 'utf8' : 'latin1');
  return text
    .replace(CREDENTIALS, `$1 ${REMOVED}`)
    .replace(URI_PASSWORD, `$1:${REMOVED}@`)
    .replace(SDP_KEYS, `$1${REMOVED}`);
}

/** Value of `Signal` in `application/dtmf-relay`, on any line: a digit, or the number of a key that is none. */
const SIGNAL_VALUE = /^([ \t]*signal\s*=\s*)\S+/gim;

/** Body of `application/dtmf`: the digit alone. */
const KEY_ALONE = /^(\s*)[0-9*#A-D]+(?=\s|$)/i;

/** A message without the key that it tells: keys may be the number of a card. */
function withoutKeys(wire: Buffer): Buffer {
  if (!wire.subarray(0, 5).equals(INFO)) return wire;
  const text = wire.toString('latin1');
  if (!/^content-type\s*:\s*application\/dtmf|^c\s*:\s*application\/dtmf/im.test(text)) return wire;
  const bodyAt = text.indexOf('\r\n\r\n') + 4;
  const body = text.slice(bodyAt).replace(SIGNAL_VALUE, '$1x').replace(KEY_ALONE, '$1x');
  return Buffer.from(text.slice(0, bodyAt) + body, 'latin1');
}

const INFO = Buffer.from('INFO ');
