/** State transitions of a call's record with their events, and its quality; pure */
import type { Agent } from '../agent/agent.ts';
import type { Call, CallChange, CallDirection, CallStatus, EndReason } from './call.ts';
import { type CallPrice, costOf } from './call-cost.ts';
import { callEndedEvent, callStartedEvent } from './call-events.ts';

/** Fields that a call begins with; the rest of its record is empty. */
interface CallBeginning
  extends Pick<Call, 'id' | 'direction' | 'from' | 'to'>,
    Partial<
      Pick<Call, 'notBeforeAt' | 'notAfterAt' | 'expiresAt' | 'metadata' | 'overrides' | 'scenario'>
    > {
  readonly now: Date;
}

/** Makes the record of a call that waits in the queue. */
export function newCall(agent: Agent, beginning: CallBeginning): Call {
  const { now, metadata = {}, overrides = {}, scenario = null, ...rest } = beginning;
  const { notBeforeAt = null, notAfterAt = null, expiresAt = null, ...parties } = rest;
  return {
    ...parties,
    accountId: agent.accountId,
    environment: agent.environment,
    agentId: agent.id,
    status: 'queued',
    createdAt: now,
    startedAt: null,
    answeredAt: null,
    endedAt: null,
    answeredBy: null,
    endReason: null,
    failureReason: null,
    sipStatus: null,
    notBeforeAt,
    notAfterAt,
    expiresAt,
    durationSeconds: 0,
    price: null,
    cost: null,
    carrierCallSid: null,
    recordingFile: null,
    recordingTruncated: false,
    summary: null,
    sentiment: null,
    sentimentScore: null,
    intentDetected: null,
    extracted: null,
    success: null,
    metadata,
    overrides,
    scenario,
  };
}

/** Whole seconds from answer to end, rounded up because every started second counts; 0 when never answered. */
export function durationSeconds(answeredAt: Date | null, endedAt: Date): number {
  if (answeredAt === null) return 0;
  return Math.max(0, Math.ceil((endedAt.getTime() - answeredAt.getTime()) / 1000));
}

const NEXT: Readonly<Record<CallStatus, readonly CallStatus[]>> = {
  queued: ['ringing', 'failed'],
  ringing: ['in_progress', 'completed', 'failed'],
  in_progress: ['completed', 'failed'],
  completed: [],
  failed: [],
};

/** Whether a call may go from one status to another. */
export function canMove(from: CallStatus, to: CallStatus): boolean {
  return NEXT[from].includes(to);
}

/** Whether a call has come to its end. */
export function isOver(status: CallStatus): boolean {
  return NEXT[status].length === 0;
}

/**
 * Moves a call to its next status, together with other changes.
 *
 * @throws {Error} when the table of moves does not have this one.
 */
export function moveCall(call: Call, status: CallStatus, changes: Partial<Call> = {}): Call {
  if (!canMove(call.status, status)) {
    throw new Error(`Cannot move call "${call.id}" to ${status}: it is ${call.status}`);
  }
  return { ...call, ...changes, status };
}

/** Why a call failed. */
export interface Failure {
  /** A sentence for customers. */
  readonly reason: string;
  /** The final status by which the far end refused our INVITE; null where there was none. */
  readonly sipStatus: number | null;
}

/** Failure reasons by end reason, for calls without a better explanation. */
const FAILED_BY_END: Partial<Readonly<Record<EndReason, string>>> = {
  no_answer: 'The call was not answered.',
  busy: 'The line was busy.',
};

/**
 * Ends a call, with its cost: `completed` when it was answered and nothing broke, else `failed`. A call that never started
 * gets its creation as its start. No call ends before its start or its answer, even if the machine's clock was set back.
 *
 * @throws {Error} when the call is over already.
 */
export function endCall(
  call: Call,
  facts: {
    readonly endReason: EndReason;
    readonly endedAt: Date;
    readonly failure?: Failure | undefined;
  },
): Call {
  const { endReason, failure } = facts;
  const reason = failure?.reason ?? FAILED_BY_END[endReason] ?? 'The server failed.';
  const startedAt = call.startedAt ?? call.createdAt;
  const endedAt = latest(facts.endedAt, startedAt, call.answeredAt);
  const isAnswered = call.answeredAt !== null;
  const isCompleted = isAnswered && endReason !== 'error';
  const seconds = durationSeconds(call.answeredAt, endedAt);
  return moveCall(call, isCompleted ? 'completed' : 'failed', {
    startedAt,
    endedAt,
    endReason,
    failureReason: isCompleted ? null : reason,
    sipStatus: isCompleted ? null : (failure?.sipStatus ?? null),
    durationSeconds: seconds,
    cost: isAnswered && call.price !== null ? costOf(call.price, seconds) : null,
  });
}

function latest(first: Date, ...others: readonly (Date | null)[]): Date {
  return new Date(Math.max(first.getTime(), ...others.map((date) => date?.getTime() ?? 0)));
}

/** The record of a call that begins to ring. */
export function ringing(facts: {
  readonly id: string;
  readonly agent: Agent;
  readonly direction: CallDirection;
  readonly from: string;
  readonly to: string;
  readonly carrierCallSid: string;
  readonly metadata?: Call['metadata'] | undefined;
  readonly now: Date;
}): Call {
  const { agent, carrierCallSid, metadata = {}, ...beginning } = facts;
  return moveCall(newCall(agent, { ...beginning, metadata }), 'ringing', {
    startedAt: facts.now,
    carrierCallSid,
  });
}

/** The record of a call that leaves the queue to be dialled: it starts now, and the reason for its wait is removed. */
export function dialling(call: Call, now: Date): Call {
  return moveCall(call, 'ringing', { startedAt: now, failureReason: null });
}

/** The caller was picked up, or the callee answered: `call.started`. */
export function answered(
  call: Call,
  facts: {
    readonly now: Date;
    readonly recordingFile: string | null;
    /** Carrier's price; null where it is unknown. */
    readonly price: CallPrice | null;
    readonly eventId: string;
  },
): CallChange {
  const { now: answeredAt, recordingFile, price } = facts;
  const changes = { answeredAt, recordingFile, price };
  const moved = moveCall(call, 'in_progress', changes);
  return {
    call: moved,
    events: [callStartedEvent(moved, { id: facts.eventId, now: facts.now })],
  };
}

/** The call is over: `call.ended`, created at `eventAt` (later than the end, after a crash). */
export function ended(
  call: Call,
  facts: {
    readonly endedAt: Date;
    readonly eventAt: Date;
    readonly reason: EndReason;
    /** Known cause, where the call fails. */
    readonly failure?: Failure | undefined;
    readonly eventId: string;
  },
): CallChange {
  const { reason: endReason, endedAt, failure } = facts;
  const over = endCall(call, { endReason, endedAt, failure });
  const now = over.endedAt !== null && over.endedAt > facts.eventAt ? over.endedAt : facts.eventAt;
  return { call: over, events: [callEndedEvent(over, { id: facts.eventId, now })] };
}

/** Received direction, by our own counts over the whole call. */
export interface LocalQuality {
  readonly packetsSent: number;
  /** Were due, and our own system did not take them. */
  readonly packetsUnsent: number;
  readonly packetsReceived: number;
  readonly packetsLost: number;
  /** Came when their place was filled with silence already, or twice. */
  readonly packetsLate: number;
  /** From another source, or malformed. */
  readonly packetsRejected: number;
  /** Percentage of due packets that could not be heard: lost and late ones. */
  readonly lossPercent: number;
  /** RFC 3550's running estimate, at the end. */
  readonly jitterMs: number;
}

/** Sent direction, by the far end's RTCP reports. */
export interface RemoteQuality {
  /** Packets sent by us, as far as the newest report knew. */
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly lossPercent: number;
  readonly jitterMs: number;
  /** The mean, and the longest; null where no report answered one of ours. */
  readonly roundTripMs: number | null;
  readonly roundTripMsMax: number | null;
}

/** Packet loss, jitter and MOS of a call in both directions. */
export interface CallQuality {
  /** `PCMU` or `PCMA`. */
  readonly codec: string;
  readonly local: LocalQuality;
  /** Null where the far end sent no reports. */
  readonly remote: RemoteQuality | null;
  /** Mean opinion score of the worse direction, from 1 to 4.4; null where nothing came either way. */
  readonly mos: number | null;
}

/** Keeps the quality of calls that are over, for as long as the calls themselves. */
export interface CallQualityStore {
  /** Saves the quality of a call that is kept; a second time replaces the first. */
  save(callId: string, quality: CallQuality): Promise<void>;

  find(callId: string): Promise<CallQuality | undefined>;
}
