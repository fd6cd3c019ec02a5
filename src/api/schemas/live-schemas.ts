/** What the live view takes and tells: the one source of validation and documentation. */
import { z } from '@hono/zod-openapi';
import { callItemSchema, timelinePageSchema, transcriptEntrySchema } from './call-schemas.ts';

export const liveQuerySchema = z.strictObject({
  callId: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .openapi({ param: { description: 'Tells of this call only, with what was said so far.' } }),
  levels: z
    .enum(['true', 'false'])
    .optional()
    .openapi({
      param: { description: 'Whether to tell how loud calls are, four times a second.' },
    }),
});

const ofCall = { callId: z.string() };

const levelSchema = z.int().min(-90).max(0);

const liveCallSchema = callItemSchema.omit({ tags: true, hasTranscript: true, hasRecording: true });

/** The `data` of every event of the stream, by its name. */
export const liveEventSchemas = {
  snapshot: z.object({
    calls: z.array(
      liveCallSchema.extend({ transcript: z.array(transcriptEntrySchema).optional() }),
    ),
    queuedCalls: z.int(),
  }),
  call: liveCallSchema,
  said: z.object({ ...ofCall, entry: transcriptEntrySchema }),
  timeline: z.object({ ...ofCall, entry: timelinePageSchema.shape.data.element }),
  hearing: z.object({ ...ofCall, text: z.string() }),
  levels: z.object({
    levels: z.array(z.object({ ...ofCall, caller: levelSchema, agent: levelSchema })),
  }),
} as const;

export type LiveEventName = keyof typeof liveEventSchemas;

export type LiveEvent = {
  readonly [Name in LiveEventName]: {
    readonly event: Name;
    readonly data: z.infer<(typeof liveEventSchemas)[Name]>;
  };
}[LiveEventName];
