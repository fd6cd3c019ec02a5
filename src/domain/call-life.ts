/** How a call's record moves from state to state; pure */
import type { Agent } from './agent.ts';
import { type Call, type CallStatus, canMove, type EndReason } from './call.ts';

/** What a call begins with; the rest of its record is empty. */
export interface CallBeginning
  extends Pick<Call, 'id' | 'direction' | 'from' | 'to'>,
    Partial<Pick<Call, 'metadata' | 'overrides' | 'scenario'>> {
  readonly now: Date;
}

/** Makes the record of a call that waits in the queue. */
export function newCall(agent: Agent, beginning: CallBeginning): Call {
  const { now, metadata = {}, overrides = {}, scenario = null, ...parties } = beginning;
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
    endReason: null,
    durationSeconds: 0,
    carrierCallSid: null,
    recordingFile: null,
    recordingTruncated: false,
    summary: null,
    sentiment: null,
    sentimentScore: null,
    intentDetected: null,
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

/**
 * Moves a call to its next status, with what changes at the same time.
 *
 * @throws {Error} when the table of moves does not have this one.
 */
export function moveCall(call: Call, status: CallStatus, changes: Partial<Call> = {}): Call {
  if (!canMove(call.status, status)) {
    throw new Error(`Cannot move call "${call.id}" to ${status}: it is ${call.status}`);
  }
  return { ...call, ...changes, status };
}

/**
 * Ends a call: `completed` when it was answered and nothing broke, else `failed`. One that never started began when it was
 * asked for. No call ends before it began: where the machine's clock was set back, it ends as it began.
 *
 * @throws {Error} when the call is over already.
 */
export function endCall(
  call: Call,
  facts: { readonly endReason: EndReason; readonly endedAt: Date },
): Call {
  const { endReason } = facts;
  const startedAt = call.startedAt ?? call.createdAt;
  const endedAt = latest(facts.endedAt, startedAt, call.answeredAt);
  const isCompleted = call.answeredAt !== null && endReason !== 'error';
  return moveCall(call, isCompleted ? 'completed' : 'failed', {
    startedAt,
    endedAt,
    endReason,
    durationSeconds: durationSeconds(call.answeredAt, endedAt),
  });
}

function latest(first: Date, ...others: readonly (Date | null)[]): Date {
  return new Date(Math.max(first.getTime(), ...others.map((date) => date?.getTime() ?? 0)));
}
