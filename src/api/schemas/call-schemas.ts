/** What calls look like in queries and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { dayDocs, dayEnd, dayStart } from './day-schema.ts';
import { PAGE_LIMIT, pageOf, pagingFields } from './paging-schema.ts';
import { smsMessageSchema } from './sms-schemas.ts';

const timestamp = z.iso.datetime();

const status = z.enum(['queued', 'ringing', 'in_progress', 'completed', 'failed']);

export const directionSchema = z.enum(['inbound', 'outbound']);

export const endReasonSchema = z.enum([
  'user_hangup',
  'agent_hangup',
  'timeout',
  'transferred',
  'error',
  'no_answer',
  'busy',
]);

export const durationSchema = z.int().openapi({
  description:
    'Seconds from the answer to the end, each started one counted; 0 without an answer. Less than `endedAt` - `startedAt`, which begins with the ringing.',
});

const WHEN_STARTED = 'When it began to ring, not when it was answered';

export const startedAtSchema = timestamp.openapi({ description: `${WHEN_STARTED}.` });

export const answeredAtSchema = timestamp
  .nullable()
  .openapi({ description: 'null until, and unless, the call was answered.' });

export const answeredBySchema = z.enum(['human', 'machine', 'unknown']).nullable().openapi({
  description:
    'Whether a person or an answering machine took an outbound call (answering machine detection); `unknown` where the call ended before it could be told. It may change from `human` to `machine` within the first 20 s. null for inbound calls, unanswered ones, and until it is decided.',
});

export const failureReasonSchema = z.string().nullable().openapi({
  description:
    'Why a `failed` call failed, or what keeps a `queued` one waiting, such as a trunk that is not registered; a sentence. null otherwise.',
  example: 'The called number is busy, or refused the call (SIP 486).',
});

export const sipStatusSchema = z.int().nullable().openapi({
  description:
    'The final SIP status by which the far end refused an outbound call; null otherwise.',
  example: 486,
});

const common = {
  id: z.string().openapi({ example: 'call_0VbZOZK8iLGcXSKvcmQMdaX5' }),
  agentId: z.string(),
  direction: directionSchema,
  status,
  from: z.string(),
  to: z.string(),
  durationSeconds: durationSchema,
  startedAt: timestamp.nullable().openapi({ description: `${WHEN_STARTED}; null while queued.` }),
  endedAt: timestamp.nullable().openapi({ description: 'null until the call is over.' }),
  answeredAt: answeredAtSchema,
  answeredBy: answeredBySchema,
  endReason: endReasonSchema.nullable().openapi({ description: 'null until the call is over.' }),
  failureReason: failureReasonSchema,
  sipStatus: sipStatusSchema,
  sentiment: z
    .enum(['positive', 'neutral', 'negative'])
    .nullable()
    .openapi({ description: 'null until the call was analysed.' }),
  intentDetected: z
    .string()
    .nullable()
    .openapi({ description: 'null until the call was analysed.' }),
};

/** What every view of a call has. */
export const callCommonSchema = z.object(common);

export const callItemSchema = z
  .object({ ...common, hasTranscript: z.boolean(), hasRecording: z.boolean() })
  .openapi('CallItem');

export const callPageSchema = pageOf(callItemSchema).openapi('CallPage');

export const transcriptEntrySchema = z
  .object({
    role: z.enum(['agent', 'user']),
    text: z.string(),
    timestamp,
    confidence: z.number().min(0).max(1).optional(),
  })
  .openapi('TranscriptEntry');

const extractedSchema = z.record(z.string(), z.unknown()).nullable().openapi({
  description:
    'What the `extract` of the agent asks for; null where it asks for nothing, before the analysis, and where no valid answer came (the timeline says why).',
});

const successSchema = z.object({ met: z.boolean(), reason: z.string() }).nullable().openapi({
  description: 'Whether the `successCriteria` of the agent were met; null as `extracted`.',
});

export const callSchema = z
  .object({
    ...common,
    recordingTruncated: z.boolean().openapi({
      description:
        'Whether the recording ends before the call does, because the disk took no more.',
    }),
    transcript: z
      .array(transcriptEntrySchema)
      .optional()
      .openapi({ description: 'Absent until something was said.' }),
    messages: z
      .array(smsMessageSchema)
      .optional()
      .openapi({ description: 'What `send_sms` sent, oldest first; absent until there is one.' }),
    summary: z.string().nullable(),
    extracted: extractedSchema,
    success: successSchema,
    recordingUrl: z.url().nullable().openapi({
      description: 'Needs no key and works for 24 h; null when there is no recording.',
    }),
    metadata: z.record(z.string(), z.unknown()).openapi({
      description:
        "What the request for the call gave. Of an inbound call, `sip` has what the carrier's INVITE tells, each member only where there is something: `headers` (X- headers, names in lower case), `userToUser` (RFC 7433), `diversion` (`[{number, reason?}]`, RFC 5806), `verstat` (the carrier's verdict on the number, such as `TN-Validation-Passed`; not verified here), `dropped` (how many headers were left out for their size, number or characters). All of it is text of the far end.",
      example: {
        sip: {
          headers: { 'x-account-id': '42' },
          diversion: [{ number: '+390612345678', reason: 'no-answer' }],
          verstat: 'TN-Validation-Passed',
        },
      },
    }),
  })
  .openapi('Call');

const timelineEntrySchema = z
  .object({
    timestamp,
    kind: z.string().openapi({ example: 'turn' }),
    details: z.record(z.string(), z.unknown()),
  })
  .openapi('TimelineEntry');

export const timelinePageSchema = pageOf(timelineEntrySchema).openapi('TimelinePage');

export const callQuerySchema = z
  .strictObject({
    ...pagingFields(PAGE_LIMIT),
    agentId: z.string().min(1).max(100).optional(),
    status: status.optional(),
    direction: directionSchema.optional(),
    startDate: dayStart
      .optional()
      .openapi({ ...dayDocs, param: { description: 'First UTC day.' } }),
    endDate: dayEnd.optional().openapi({ ...dayDocs, param: { description: 'Last UTC day.' } }),
  })
  .refine(
    ({ startDate, endDate }) =>
      startDate === undefined || endDate === undefined || startDate < endDate,
    { path: ['endDate'], message: 'expected a day that is not before startDate' },
  );

export const timelineQuerySchema = z.strictObject(pagingFields({ default: 100, max: 1000 }));

export const callPathSchema = z.object({ callId: z.string() });

/** The two parameters of a link to a recording; both or neither. */
export const recordingQuerySchema = z
  .strictObject({
    expires: z
      .string()
      .regex(/^\d{1,15}$/)
      .optional(),
    signature: z.string().max(200).optional(),
  })
  .refine(({ expires, signature }) => (expires === undefined) === (signature === undefined), {
    path: ['signature'],
    message: 'expected expires and signature together',
  });
