/** The events that a call's start and end cause, with the exact bodies that customers receive; pure */
import type { Call } from './call.ts';
import type { ServiceEvent, ServiceEventKind } from './service-event.ts';

/** What every event needs besides its data. */
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

/** A call that failed before it was dialled began, as customers see it, when they asked for it. */
function startOf(call: Call): string {
  return (call.startedAt ?? call.createdAt).toISOString();
}

/** The field is a string in the contract; a call that never reached a carrier has an empty one. */
function sidOf(call: Call): string {
  return call.carrierCallSid ?? '';
}
