/** The events that a call's start and end cause, with the exact bodies that customers receive; pure */
import type { ServiceEvent, ServiceEventKind } from '../webhook/service-event.ts';
import type { Appointment, Call, TranscriptEntry } from './call.ts';

/** Id and time of an event. */
export interface EventStamp {
  /** `evt_…`; stays the same over all deliveries. */
  readonly id: string;
  readonly now: Date;
}

/**
 * Tells that the caller was picked up, or the callee answered.
 *
 * @see the interface specification, "Events": `call.started`
 */
export function callStartedEvent(call: Call, stamp: EventStamp): ServiceEvent {
  return eventOf('call.started', call, stamp, {
    ...partiesOf(call),
    startedAt: startOf(call),
    carrierCallSid: sidOf(call),
  });
}

/**
 * Tells that a call is over, for whichever reason.
 *
 * @throws {Error} when the call has no end yet.
 * @see the interface specification, "Events": `call.ended`
 */
export function callEndedEvent(call: Call, stamp: EventStamp): ServiceEvent {
  if (call.endedAt === null || call.endReason === null) {
    throw new Error(`Cannot tell the end of call "${call.id}": it is ${call.status}`);
  }
  return eventOf('call.ended', call, stamp, {
    ...partiesOf(call),
    startedAt: startOf(call),
    endedAt: call.endedAt.toISOString(),
    durationSeconds: call.durationSeconds,
    endReason: call.endReason,
    carrierCallSid: sidOf(call),
    answeredAt: call.answeredAt?.toISOString() ?? null,
    answeredBy: call.answeredBy,
    failureReason: call.failureReason,
    sipStatus: call.sipStatus,
  });
}

/**
 * Makes the event with the transcript and the analysis of a call that is over.
 *
 * @param facts.recordingUrl empty where there is no recording: the field is a string in the contract.
 * @see the interface specification, "Events": `call.transcribed`
 */
export function callTranscribedEvent(
  call: Call,
  facts: { readonly transcript: readonly TranscriptEntry[]; readonly recordingUrl: string },
  stamp: EventStamp,
): ServiceEvent {
  return eventOf('call.transcribed', call, stamp, {
    callId: call.id,
    agentId: call.agentId,
    durationSeconds: call.durationSeconds,
    transcript: facts.transcript.map(({ role, text, at, confidence }) => ({
      role,
      text,
      timestamp: at.toISOString(),
      ...(confidence === undefined ? {} : { confidence }),
    })),
    summary: call.summary,
    sentiment: call.sentiment,
    intentDetected: call.intentDetected,
    ...(call.extracted === null ? {} : { extracted: call.extracted }),
    ...(call.success === null ? {} : { success: call.success }),
    recordingUrl: facts.recordingUrl,
    ...(call.recordingTruncated ? { recordingTruncated: true } : {}),
  });
}

/** @see the interface specification, "Events": `appointment.booked` */
export function appointmentBookedEvent(
  call: Call,
  appointment: Appointment,
  stamp: EventStamp,
): ServiceEvent {
  return eventOf('appointment.booked', call, stamp, {
    callId: call.id,
    agentId: call.agentId,
    appointment: {
      ...appointment,
      startTime: appointment.startTime.toISOString(),
      endTime: appointment.endTime.toISOString(),
    },
  });
}

/** Role of the agent once two other parties are connected. */
export type AgentRole = 'observer' | 'participant' | 'left';

/** Two parties that were connected, as `call.bridged` reports them. */
interface Bridge {
  /** E.164. */
  readonly bridgedTo: string;
  readonly bridgedAt: Date;
  /** The caller's request, in a sentence or two. */
  readonly qualificationSummary: string;
  readonly agentRole: AgentRole;
}

/** @see the interface specification, "Events": `call.bridged` */
export function callBridgedEvent(call: Call, bridge: Bridge, stamp: EventStamp): ServiceEvent {
  return eventOf('call.bridged', call, stamp, {
    callId: call.id,
    ...bridge,
    bridgedAt: bridge.bridgedAt.toISOString(),
  });
}

function eventOf(
  kind: ServiceEventKind,
  call: Call,
  { id, now }: EventStamp,
  data: Readonly<Record<string, unknown>>,
): ServiceEvent {
  return {
    id,
    accountId: call.accountId,
    environment: call.environment,
    kind,
    callId: call.id,
    createdAt: now,
    body: JSON.stringify({ event: kind, id, createdAt: now.toISOString(), data }),
  };
}

function partiesOf(call: Call): Readonly<Record<string, string>> {
  const { id: callId, agentId, direction, from, to } = call;
  return { callId, agentId, direction, from, to };
}

/** @throws {Error} when the call waits in the queue. */
function startOf({ id, startedAt }: Call): string {
  if (startedAt === null) throw new Error(`Cannot tell of call "${id}": it has not begun`);
  return startedAt.toISOString();
}

/** The field is a string in the contract; a call that never reached a carrier has an empty one. */
function sidOf(call: Call): string {
  return call.carrierCallSid ?? '';
}
