/** Records as customers see them: the fields of a schema and no others; calls with costs and transcripts; pure */
import type { z } from '@hono/zod-openapi';
import type {
  Call,
  CallNote,
  CallSummary,
  TimelineEntry,
  TranscriptEntry,
} from '../domain/call/call.ts';
import { amountOf, type CallCost } from '../domain/call/call-cost.ts';
import type { SmsMessage } from '../domain/sms/sms-message.ts';
import {
  callCommonSchema,
  type callItemSchema,
  type callSchema,
  type costSchema,
  type timelinePageSchema,
} from './schemas/call-schemas.ts';
import { smsMessageSchema } from './schemas/sms-schemas.ts';

/**
 * Picks the fields that the schema names, so that a new field of a record is not published by accident. Instants become ISO 8601.
 *
 * @param record with the schema's fields by name; lists and objects inside of it are taken as they are.
 */
export function viewOf<Schema extends z.ZodObject>(
  schema: Schema,
  record: Source<z.infer<Schema>>,
): z.infer<Schema> {
  const fields = record as Readonly<Record<string, unknown>>;
  const view: Record<string, unknown> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = fields[name];
    view[name] = value instanceof Date ? value.toISOString() : value;
  }
  return view as z.infer<Schema>;
}

type Source<View> = {
  readonly [Name in keyof View]: Frozen<View[Name]> | (string extends View[Name] ? Date : never);
};

type Frozen<Value> = Value extends (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

/** `value` with `decimals` digits after the point. */
export function rounded(value: number, decimals: number): number {
  const factor = 10 ** decimals;
  return Math.round(value * factor) / factor;
}

/** Minutes with one decimal. */
export function minutesOf(seconds: number): number {
  return rounded(seconds / 60, 1);
}

type CallItem = z.infer<typeof callItemSchema>;

/** An item of "List calls". */
export function serializeCallItem(call: CallSummary, tags: readonly string[]): CallItem {
  const { hasTranscript, recordingFile } = call;
  const hasRecording = recordingFile !== null;
  return { ...serializeCallCommon(call), tags: [...tags], hasTranscript, hasRecording };
}

/**
 * "Get a call".
 *
 * @param parts.transcript Left out of the answer when empty, as are messages.
 * @param parts.recordingUrl Null when there is no recording.
 */
export function serializeCall(
  call: Call,
  parts: {
    readonly transcript: readonly TranscriptEntry[];
    readonly messages: readonly SmsMessage[];
    readonly note: CallNote;
    readonly recordingUrl: string | null;
  },
): z.infer<typeof callSchema> {
  const { messages, note, recordingUrl, transcript } = parts;
  const sent = messages.map((message) => viewOf(smsMessageSchema, message));
  return {
    ...serializeCallCommon(call),
    recordingTruncated: call.recordingTruncated,
    ...(transcript.length === 0 ? {} : { transcript: transcript.map(serializeTranscriptEntry) }),
    ...(sent.length === 0 ? {} : { messages: sent }),
    tags: [...note.tags],
    note: note.note,
    summary: call.summary,
    extracted: call.extracted,
    success: call.success,
    recordingUrl,
    metadata: call.metadata,
  };
}

/** One entry of a timeline; its time counts from the start of the call, in milliseconds. */
export function serializeTimelineEntry(
  entry: TimelineEntry,
): z.infer<typeof timelinePageSchema>['data'][number] {
  return { timestamp: entry.at.toISOString(), kind: entry.kind, details: entry.details };
}

/** Serializes the fields that every view of a call has. */
export function serializeCallCommon(
  call: Call,
): Omit<CallItem, 'tags' | 'hasTranscript' | 'hasRecording'> {
  return viewOf(callCommonSchema, { ...call, cost: call.cost && costView(call.cost) });
}

/** An amount of money in decimals, which no client has to round. */
export function costView(cost: CallCost): z.infer<typeof costSchema> {
  return { amount: amountOf(cost), currency: cost.currency };
}

/** One entry of a transcript, as the record has it. */
export function serializeTranscriptEntry(
  entry: TranscriptEntry,
): NonNullable<z.infer<typeof callSchema>['transcript']>[number] {
  const { role, text, at, confidence } = entry;
  const timestamp = at.toISOString();
  return confidence === undefined
    ? { role, text, timestamp }
    : { role, text, timestamp, confidence };
}
