/** Message counters of the engine, for metrics and the log, and the feed of the message trace. */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { MessageTrace } from './call-traces.ts';
import type { SipMessage } from './message/message.ts';
import { SipError } from './message/status.ts';
import type { Flow } from './transport/flow.ts';

/** Reasons for dropping a message, each with its count at the start. A message dropped on receipt gets no response. */
const NONE_DROPPED = {
  /** Not SIP, or broken beyond an answer. */
  unreadable: 0,
  /** Response without a client transaction. */
  'stray-response': 0,
  /** An ACK that matches no transaction and no dialog. */
  'stray-ack': 0,
  /** The screen turned its source away. */
  screened: 0,
  /** Stream with lost framing. */
  'bad-stream': 0,
  /** More connections than one peer or all may have. */
  'connection-limit': 0,
  /** TLS handshake of a peer that failed. */
  'bad-handshake': 0,
  /** Message of ours that could not be sent: the flow is closed, or TLS could not be set up. */
  unsendable: 0,
};

type DropReason = keyof typeof NONE_DROPPED;

/** Plain numbers since the start, for metrics. */
export interface EngineCounts {
  messagesIn: number;
  messagesOut: number;
  /** Retransmissions; part of `messagesOut`. */
  retransmissionsOut: number;
  /** Repeats that a transaction absorbed; part of `messagesIn`. */
  retransmissionsIn: number;
  readonly dropped: Record<DropReason, number>;
  /** Requests refused by the engine itself, by status. */
  readonly rejected: Map<number, number>;
  /** Responses received by status, retransmissions included. */
  readonly responsesIn: Map<number, number>;
  /** Responses that went, repeats among them, by status. */
  readonly responsesOut: Map<number, number>;
}

/** A flood fills the counters, not the log. */
const LOG_EVERY_MS = 10_000;

/** Counters of messages and the feed for traces. */
export class EngineStats {
  readonly counts: EngineCounts = {
    messagesIn: 0,
    messagesOut: 0,
    retransmissionsOut: 0,
    retransmissionsIn: 0,
    dropped: { ...NONE_DROPPED },
    rejected: new Map(),
    responsesIn: new Map(),
    responsesOut: new Map(),
  };
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #trace: MessageTrace | undefined;
  readonly #loggedAtMs = new Map<string, number>();

  constructor(options: { clock: Clock; logger: Logger; trace?: MessageTrace | undefined }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#trace = options.trace;
  }

  /** Notes a message that has left. */
  sent(bytes: Buffer, flow: Flow, isRepeat: boolean): void {
    this.#trace?.sent(bytes, flow);
    this.counts.messagesOut += 1;
    if (isRepeat) this.counts.retransmissionsOut += 1;
    const status = statusOf(bytes);
    if (status !== undefined) count(this.counts.responsesOut, status);
  }

  /** Notes a parsed message, before it is handled. */
  read(message: SipMessage, flow: Flow): void {
    this.#trace?.received(message, flow);
    if (!message.isRequest) count(this.counts.responsesIn, message.status);
  }

  /** Notes a dropped message. @param why for the log; must not contain message text. */
  drop(reason: DropReason, why?: string): void {
    this.counts.dropped[reason] += 1;
    this.#log(reason, { reason, why, count: this.counts.dropped[reason] });
  }

  /** Notes a request that the engine itself refused. */
  reject(status: number, why?: string): void {
    count(this.counts.rejected, status);
    this.#log(`status ${status}`, { status, why, count: this.counts.rejected.get(status) });
  }

  #log(subject: string, fields: object): void {
    const nowMs = this.#clock.nowMs();
    const loggedAtMs = this.#loggedAtMs.get(subject);
    if (loggedAtMs !== undefined && nowMs - loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs.set(subject, nowMs);
    this.#logger.warn(fields, 'SIP message not served');
  }
}

/** Sends one message, counted; false when the flow cannot send it. */
export function sendCounted(
  stats: EngineStats,
  flow: Flow,
  bytes: Buffer,
  isRepeat: boolean,
): boolean {
  try {
    flow.send(bytes);
  } catch (error) {
    if (!(error instanceof SipError)) throw error;
    stats.drop('unsendable', error.message);
    return false;
  }
  stats.sent(bytes, flow, isRepeat);
  return true;
}

/** Statuses are below 700, so the map stays small. */
function count(counts: Map<number, number>, status: number): void {
  counts.set(status, (counts.get(status) ?? 0) + 1);
}

/** Status of a serialised response; undefined for a request, whose method holds no slash. RFC 3261, 7.2. */
function statusOf(bytes: Buffer): number | undefined {
  const [, status] = /^SIP\/2\.0 (\d{3})/.exec(bytes.toString('latin1', 0, 11)) ?? [];
  return status === undefined ? undefined : Number(status);
}
