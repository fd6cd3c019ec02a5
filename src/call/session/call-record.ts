/** The changes of a call's record, each with the events that go with it; pure */
import type { Agent } from '../../domain/agent/agent.ts';
import type { Call, CallDirection, EndReason } from '../../domain/call/call.ts';
import { callEndedEvent, callStartedEvent } from '../../domain/call/call-events.ts';
import { endCall, type Failure, moveCall, newCall } from '../../domain/call/call-life.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';

/** A new state and what it tells customers; saved together or not at all. */
export interface RecordChange {
  readonly call: Call;
  readonly events: readonly ServiceEvent[];
}

/** The record of a call that begins to ring. */
export function ringing(facts: {
  readonly id: string;
  readonly agent: Agent;
  readonly direction: CallDirection;
  readonly from: string;
  readonly to: string;
  readonly carrierCallSid: string;
  readonly now: Date;
}): Call {
  const { agent, carrierCallSid, ...beginning } = facts;
  return moveCall(newCall(agent, beginning), 'ringing', {
    startedAt: facts.now,
    carrierCallSid,
  });
}

/** The record of a call that leaves the queue to be dialled: it began now, and nothing keeps it any more. */
export function dialling(call: Call, now: Date): Call {
  return moveCall(call, 'ringing', { startedAt: now, failureReason: null });
}

/** The caller was picked up, or the callee answered: `call.started`. */
export function answered(
  call: Call,
  facts: { readonly now: Date; readonly recordingFile: string | null; readonly eventId: string },
): RecordChange {
  const changes = { answeredAt: facts.now, recordingFile: facts.recordingFile };
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
    /** Of a call that fails. */
    readonly failure?: Failure | undefined;
    readonly eventId: string;
  },
): RecordChange {
  const { reason: endReason, endedAt, failure } = facts;
  const over = endCall(call, { endReason, endedAt, failure });
  const now = over.endedAt !== null && over.endedAt > facts.eventAt ? over.endedAt : facts.eventAt;
  return { call: over, events: [callEndedEvent(over, { id: facts.eventId, now })] };
}
