/** What the live view takes and tells: the one source of validation and documentation. */
import { z } from '@hono/zod-openapi';
import { callItemSchema, timelinePageSchema, transcriptEntrySchema } from './call-schemas.ts';
import { eventOf } from './event-schema.ts';

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

const liveCallSchema = callItemSchema
  .omit({ tags: true, hasTranscript: true, hasRecording: true })
  .extend({
    transcript: z
      .array(transcriptEntrySchema)
      .optional()
      .openapi({ description: 'There only in the snapshot of one call.' }),
  })
  .openapi('LiveCall');

const levelsSchema = z
  .array(z.object({ ...ofCall, caller: levelSchema, agent: levelSchema }))
  .openapi({ description: 'The loudest 20 ms of each side since the last time, in dBFS.' });

const hearingSchema = z.string().openapi({
  description: 'What the caller seems to be saying; the next one replaces it.',
});

const timelineEntrySchema = timelinePageSchema.shape.data.element;

/** Every event of the stream: its name, and its `data`. */
export const liveEventSchema = z
  .union([
    eventOf(
      'snapshot',
      'LiveSnapshotEvent',
      z.object({ calls: z.array(liveCallSchema), queuedCalls: z.int() }),
    ),
    eventOf('call', 'LiveCallEvent', liveCallSchema),
    eventOf('said', 'LiveSaidEvent', z.object({ ...ofCall, entry: transcriptEntrySchema })),
    eventOf('timeline', 'LiveTimelineEvent', z.object({ ...ofCall, entry: timelineEntrySchema })),
    eventOf('hearing', 'LiveHearingEvent', z.object({ ...ofCall, text: hearingSchema })),
    eventOf('levels', 'LiveLevelsEvent', z.object({ levels: levelsSchema })),
  ])
  .openapi('LiveEvent', { description: 'An event of `GET /api/live/calls`.' });

export type LiveEvent = z.infer<typeof liveEventSchema>;
