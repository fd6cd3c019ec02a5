/** Calls as customers see them; pure */
import type { z } from '@hono/zod-openapi';
import type { Call, CallSummary, TimelineEntry, TranscriptEntry } from '../../domain/call/call.ts';
import type { callItemSchema, callSchema, timelinePageSchema } from '../schemas/call-schemas.ts';

type CallItem = z.infer<typeof callItemSchema>;

/** An item of "List calls". */
export function serializeCallItem(call: CallSummary): CallItem {
  const { hasTranscript, recordingFile } = call;
  return { ...serializeCallCommon(call), hasTranscript, hasRecording: recordingFile !== null };
}

/**
 * "Get a call".
 *
 * @param transcript Left out of the answer when empty.
 * @param recordingUrl Null when there is no recording.
 */
export function serializeCall(
  call: Call,
  transcript: readonly TranscriptEntry[],
  recordingUrl: string | null,
): z.infer<typeof callSchema> {
  return {
    ...serializeCallCommon(call),
    recordingTruncated: call.recordingTruncated,
    ...(transcript.length === 0 ? {} : { transcript: transcript.map(serializeTranscriptEntry) }),
    summary: call.summary,
    recordingUrl,
    metadata: call.metadata,
  };
}

export function serializeTimelineEntry(
  entry: TimelineEntry,
): z.infer<typeof timelinePageSchema>['data'][number] {
  return { timestamp: entry.at.toISOString(), kind: entry.kind, details: entry.details };
}

/** What every view of a call has. */
export function serializeCallCommon(call: Call): Omit<CallItem, 'hasTranscript' | 'hasRecording'> {
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
