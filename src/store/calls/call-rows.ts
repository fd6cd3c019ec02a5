/** Turns rows of the calls, transcript and timeline tables into what they tell, and back; pure */
import type { Environment } from '../../domain/account/account.ts';
import type {
  Call,
  CallDirection,
  CallOverrides,
  CallStatus,
  EndReason,
  TimelineEntry,
  TranscriptEntry,
} from '../../domain/call/call.ts';
import type { ServiceEvent, ServiceEventKind } from '../../domain/webhook/service-event.ts';
import { dateOf } from '../sqlite/instant.ts';
import type { CallRow, EventRow, TimelineRow, TranscriptRow } from '../sqlite/schema.ts';

export const CALL_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'agent_id',
  'direction',
  'status',
  'from_number',
  'to_number',
  'created_at',
  'started_at',
  'answered_at',
  'ended_at',
  'end_reason',
  'failure_reason',
  'sip_status',
  'expires_at',
  'duration_seconds',
  'carrier_call_sid',
  'recording_file',
  'recording_truncated',
  'summary',
  'sentiment',
  'sentiment_score',
  'intent_detected',
  'metadata',
  'overrides',
  'scenario',
  'sort_at',
] as const satisfies readonly (keyof CallRow)[];

export function callRowOf(call: Call): CallRow {
  const created_at = call.createdAt.getTime();
  const started_at = call.startedAt?.getTime() ?? null;
  return {
    id: call.id,
    account_id: call.accountId,
    environment: call.environment,
    agent_id: call.agentId,
    direction: call.direction,
    status: call.status,
    from_number: call.from,
    to_number: call.to,
    created_at,
    started_at,
    answered_at: call.answeredAt?.getTime() ?? null,
    ended_at: call.endedAt?.getTime() ?? null,
    end_reason: call.endReason,
    failure_reason: call.failureReason,
    sip_status: call.sipStatus,
    expires_at: call.expiresAt?.getTime() ?? null,
    duration_seconds: call.durationSeconds,
    carrier_call_sid: call.carrierCallSid,
    recording_file: call.recordingFile,
    recording_truncated: Number(call.recordingTruncated),
    summary: call.summary,
    sentiment: call.sentiment,
    sentiment_score: call.sentimentScore,
    intent_detected: call.intentDetected,
    metadata: JSON.stringify(call.metadata),
    overrides: JSON.stringify(call.overrides),
    scenario: call.scenario,
    sort_at: started_at ?? created_at,
  };
}

export function callOf(row: CallRow): Call {
  return {
    id: row.id,
    accountId: row.account_id,
    environment: row.environment as Environment,
    agentId: row.agent_id,
    direction: row.direction as CallDirection,
    status: row.status as CallStatus,
    from: row.from_number,
    to: row.to_number,
    createdAt: new Date(row.created_at),
    startedAt: dateOf(row.started_at),
    answeredAt: dateOf(row.answered_at),
    endedAt: dateOf(row.ended_at),
    endReason: row.end_reason as EndReason | null,
    failureReason: row.failure_reason,
    sipStatus: row.sip_status,
    expiresAt: dateOf(row.expires_at),
    durationSeconds: row.duration_seconds,
    carrierCallSid: row.carrier_call_sid,
    recordingFile: row.recording_file,
    recordingTruncated: row.recording_truncated === 1,
    summary: row.summary,
    sentiment: row.sentiment as Call['sentiment'],
    sentimentScore: row.sentiment_score,
    intentDetected: row.intent_detected,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    overrides: JSON.parse(row.overrides) as CallOverrides,
    scenario: row.scenario,
  };
}

export function transcriptRowOf(callId: string, entry: TranscriptEntry): TranscriptRow {
  return {
    call_id: callId,
    role: entry.role,
    text: entry.text,
    at: entry.at.getTime(),
    confidence: entry.confidence ?? null,
  };
}

export function transcriptEntryOf(row: Omit<TranscriptRow, 'call_id'>): TranscriptEntry {
  return {
    role: row.role as TranscriptEntry['role'],
    text: row.text,
    at: new Date(row.at),
    ...(row.confidence === null ? {} : { confidence: row.confidence }),
  };
}

export function timelineRowOf(callId: string, entry: TimelineEntry): TimelineRow {
  const { at, kind, details } = entry;
  return { call_id: callId, at: at.getTime(), kind, details: JSON.stringify(details) };
}

export function timelineEntryOf(row: Omit<TimelineRow, 'call_id'>): TimelineEntry {
  return {
    at: new Date(row.at),
    kind: row.kind,
    details: JSON.parse(row.details) as Record<string, unknown>,
  };
}

export function eventRowOf(event: ServiceEvent): EventRow {
  return {
    id: event.id,
    account_id: event.accountId,
    environment: event.environment,
    kind: event.kind,
    call_id: event.callId,
    created_at: event.createdAt.getTime(),
    body: event.body,
  };
}

export function eventOf(row: EventRow): ServiceEvent {
  return {
    id: row.id,
    accountId: row.account_id,
    environment: row.environment as Environment,
    kind: row.kind as ServiceEventKind,
    callId: row.call_id,
    createdAt: new Date(row.created_at),
    body: row.body,
  };
}
