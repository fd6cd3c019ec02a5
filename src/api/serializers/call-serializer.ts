/** Calls as customers see them; pure */
import type { z } from '@hono/zod-openapi';
import type { Call, CallText, TimelineEntry, TranscriptEntry } from '../../domain/call/call.ts';
import type { callItemSchema, callSchema, timelinePageSchema } from '../schemas/call-schemas.ts';

type CommonView = Omit<z.infer<typeof callItemSchema>, 'hasTranscript' | 'hasRecording'>;

/** The text of a whole call. @param recordingUrl null when there is no recording. */
export function callText(
  { facts, transcript, summary, metadata }: CallText,
  recordingUrl: string | null,
): string {
  const said = transcript === null ? '' : `"transcript":[${transcript}],`;
  const url = JSON.stringify(recordingUrl);
  return `${facts.slice(0, -1)},${said}"summary":${summary},"recordingUrl":${url},"metadata":${metadata}}`;
}

export function serializeTimelineEntry(
  entry: TimelineEntry,
): z.infer<typeof timelinePageSchema>['data'][number] {
  return { timestamp: entry.at.toISOString(), kind: entry.kind, details: entry.details };
}

/** What every view of a call has. */
export function serializeCallCommon(call: Call): CommonView {
  return {
    id: call.id,
    agentId: call.agentId,
    direction: call.direction,
    status: call.status,
    from: call.from,
    to: call.to,
    durationSeconds: call.durationSeconds,
    startedAt: call.startedAt?.toISOString() ?? null,
    endedAt: call.endedAt?.toISOString() ?? null,
    answeredAt: call.answeredAt?.toISOString() ?? null,
    endReason: call.endReason,
    failureReason: call.failureReason,
    sipStatus: call.sipStatus,
    sentiment: call.sentiment,
    intentDetected: call.intentDetected,
  };
}

export function serializeTranscriptEntry(
  entry: TranscriptEntry,
): NonNullable<z.infer<typeof callSchema>['transcript']>[number] {
  const { role, text, at, confidence } = entry;
  const timestamp = at.toISOString();
  return confidence === undefined
    ? { role, text, timestamp }
    : { role, text, timestamp, confidence };
}
