/** Schemas of calls in queries and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import {
  type CallPosition,
  END_REASONS,
  NOTE_CHARS_MAX,
  TAG_CHARS_MAX,
  TAGS_MAX,
} from '../../domain/call/call.ts';
import { searchOf } from '../../domain/call/call-search.ts';
import {
  dayDocs,
  dayEnd,
  dayStart,
  PAGE_LIMIT,
  pageOf,
  pagingFields,
  wholeNumber,
} from './query-schemas.ts';
import { smsMessageSchema } from './sms-schemas.ts';

/** Unix milliseconds and the call's id. */
const POSITION = /^(\d{1,15})\.(call_[0-9A-Za-z]{1,64})$/;

/** Base64url of `<milliseconds>.<id>`. It needs no protection: a page holds calls of its own scope only, at any position. */
export function callCursorOf({ at, id }: CallPosition): string {
  return Buffer.from(`${at.getTime()}.${id}`).toString('base64url');
}

/** A cursor of a query, as the position that it stands for. */
const callCursorSchema = z
  .string()
  .min(1)
  .max(150)
  .transform((text, context): CallPosition => {
    const [, milliseconds, id] =
      POSITION.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
    const position = { at: new Date(Number(milliseconds)), id: id ?? '' };
    if (id !== undefined && callCursorOf(position) === text) return position;
    context.addIssue({ code: 'custom', message: 'expected the nextCursor of a page of calls' });
    return z.NEVER;
  });

const timestamp = z.iso.datetime();

const status = z.enum(['queued', 'ringing', 'in_progress', 'completed', 'failed']);

/** Who placed the call: the caller (`inbound`) or an agent (`outbound`). */
export const directionSchema = z.enum(['inbound', 'outbound']);

/** Why a call is over. */
export const endReasonSchema = z.enum(END_REASONS);

/** Length of a call, in whole seconds. */
export const durationSchema = z.int().openapi({
  description:
    'Seconds from the answer to the end, each started one counted; 0 without an answer. Less than `endedAt` - `startedAt`, which begins with the ringing.',
});

const WHEN_STARTED = 'When it began to ring, not when it was answered';

/** When the call began. */
export const startedAtSchema = timestamp.openapi({ description: `${WHEN_STARTED}.` });

/** When the call was answered. */
export const answeredAtSchema = timestamp
  .nullable()
  .openapi({ description: 'null until, and unless, the call was answered.' });

/** Result of answering machine detection. */
export const answeredBySchema = z.enum(['human', 'machine', 'unknown']).nullable().openapi({
  description:
    'Whether a person or an answering machine took an outbound call (answering machine detection); `unknown` where the call ended before it could be told. It may change from `human` to `machine` within the first 20 s. null for inbound calls, unanswered ones, and until it is decided.',
});

/** Why the call failed, in a sentence. */
export const failureReasonSchema = z.string().nullable().openapi({
  description:
    'Why a `failed` call failed, or what keeps a `queued` one waiting, such as a trunk that is not registered; a sentence. null otherwise.',
  example: 'The called number is busy, or refused the call (SIP 486).',
});

/** Final SIP status of a call that was not answered. */
export const sipStatusSchema = z.int().nullable().openapi({
  description:
    'The final SIP status by which the far end refused an outbound call; null otherwise.',
  example: 486,
});

/** An amount of money. */
export const costSchema = z.object({
  amount: z.string().openapi({
    description: 'Decimal, with four to six decimals.',
    example: '0.0240',
  }),
  currency: z.string().openapi({ description: 'ISO 4217.', example: 'EUR' }),
});

const sentimentSchema = z.enum(['positive', 'neutral', 'negative']);

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
  cost: costSchema.nullable().openapi({
    description:
      'What the carrier charges, by the `price` of its trunk when the call was placed or came in: the connection, and the time from the answer to the end, rounded up to `incrementSeconds`. The second call of a transfer is not part of it. null until the call is over, where it was never answered, and where the price is unknown.',
  }),
  sentiment: sentimentSchema
    .nullable()
    .openapi({ description: 'null until the call was analysed.' }),
  intentDetected: z
    .string()
    .nullable()
    .openapi({ description: 'null until the call was analysed.' }),
};

/** Fields that every view of a call has. */
export const callCommonSchema = z.object(common);

const tagsSchema = z.array(z.string()).openapi({
  description: 'What `PATCH /api/calls/{callId}` gave the call to be found by, sorted.',
  example: ['follow-up'],
});

/** A call in a list: without its transcript. */
export const callItemSchema = z
  .object({
    ...common,
    tags: tagsSchema,
    hasTranscript: z.boolean(),
    hasRecording: z.boolean(),
  })
  .openapi('CallItem');

/** One page of calls, with the number of all. */
export const callPageSchema = pageOf(callItemSchema)
  .extend({
    offset: z.int().openapi({ description: 'Matching calls before the page.' }),
    nextCursor: z.string().nullable().openapi({
      description: '`cursor` of the next page; null where the list ends.',
    }),
    hasMore: z.boolean().openapi({ description: 'Whether the list goes on.' }),
  })
  .openapi('CallPage');

/** One sentence of a transcript. */
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

/** A call with all its recorded data. */
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
    tags: tagsSchema,
    note: z.string().nullable().openapi({ description: 'Of `PATCH /api/calls/{callId}`.' }),
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

/** One page of a timeline. */
export const timelinePageSchema = pageOf(timelineEntrySchema).openapi('TimelinePage');

const tagSchema = z
  .string()
  .trim()
  .min(1)
  .max(TAG_CHARS_MAX)
  .regex(/^[^\p{Cc}]*$/u, 'expected no control characters');

/** Body of `PATCH /api/calls/{callId}`: the operator's tags and note. */
export const callChangeSchema = z
  .strictObject({
    tags: z.array(tagSchema).max(TAGS_MAX).optional(),
    note: z.string().max(NOTE_CHARS_MAX).nullable().optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'expected tags, note or both')
  .openapi('CallChange');

const searchSchema = z
  .string()
  .min(1)
  .max(200)
  .transform((text, context) => {
    const search = searchOf(text);
    if (search !== undefined) return search;
    context.addIssue({ code: 'custom', message: 'expected words, a phone number or a call id' });
    return z.NEVER;
  });

const DURATION_SECONDS_MAX = 86_400;

const durationQuery = wholeNumber({ min: 0, max: DURATION_SECONDS_MAX }).optional();

const durationDocs = { type: 'integer', minimum: 0, maximum: DURATION_SECONDS_MAX } as const;

/** Query of the list of calls: filters, search and page. */
export const callQuerySchema = z
  .strictObject({
    ...pagingFields(PAGE_LIMIT),
    cursor: callCursorSchema.optional().openapi({
      type: 'string',
      param: {
        description:
          '`nextCursor` of a page: goes on behind its last call, also after new calls. `offset` then counts for nothing.',
      },
    }),
    q: searchSchema.optional().openapi({
      type: 'string',
      param: {
        description:
          "Words that were said in the call, by either party (all of them; from three letters on, their beginnings are enough; the newest 10,000 such calls, once they are over); or at least three consecutive digits of the caller's or the called number; or a call's id or its beginning.",
      },
      example: 'refund invoice',
    }),
    agentId: z.string().min(1).max(100).optional(),
    status: status.optional(),
    direction: directionSchema.optional(),
    endReason: endReasonSchema.optional(),
    sentiment: sentimentSchema.optional(),
    answeredBy: z.enum(['human', 'machine', 'unknown']).optional(),
    tag: z.string().min(1).max(TAG_CHARS_MAX).optional(),
    minDurationSeconds: durationQuery.openapi(durationDocs),
    maxDurationSeconds: durationQuery.openapi(durationDocs),
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

/** Query of a timeline. */
export const timelineQuerySchema = z.strictObject(pagingFields({ default: 100, max: 1000 }));

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
