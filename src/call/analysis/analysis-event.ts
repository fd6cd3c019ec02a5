/** The event that ends what customers are told of a call; pure */
import type { Call, TranscriptEntry } from '../../domain/call/call.ts';
import { callTranscribedEvent } from '../../domain/call/call-events.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';

/**
 * Makes `call.transcribed`, created after every event of the call: a simulated call runs ahead of the clock on the wall.
 *
 * @param facts.told the events of the call so far.
 * @param facts.recordingUrl empty where there is no recording.
 */
export function transcribedEvent(
  call: Call,
  facts: {
    readonly transcript: readonly TranscriptEntry[];
    readonly told: readonly ServiceEvent[];
    readonly recordingUrl: string;
    readonly now: Date;
    readonly eventId: string;
  },
): ServiceEvent {
  const { transcript, recordingUrl, told, now, eventId } = facts;
  const afterMs = told.map(({ createdAt }) => createdAt.getTime() + 1);
  const atMs = Math.max(now.getTime(), call.endedAt?.getTime() ?? 0, ...afterMs);
  const stamp = { id: eventId, now: new Date(atMs) };
  return callTranscribedEvent(call, { transcript, recordingUrl }, stamp);
}
