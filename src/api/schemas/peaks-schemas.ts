/** What the shape of a recording looks like: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { PEAK_POINTS } from '../../domain/call/recording-link.ts';
import { wholeNumber } from './paging-schema.ts';

export const peaksQuerySchema = z.strictObject({
  points: wholeNumber({ min: 1, max: PEAK_POINTS.max })
    .default(PEAK_POINTS.default)
    .openapi({
      param: { description: 'How many stretches.' },
      type: 'integer',
      minimum: 1,
      maximum: PEAK_POINTS.max,
      default: PEAK_POINTS.default,
    }),
});

const side = z.array(z.number().min(0).max(1));

export const recordingPeaksSchema = z
  .object({
    durationMs: z.int(),
    peaks: z.object({ caller: side, agent: side }).openapi({
      description: 'From 0 to 1, with two decimals; shorter than `points` where there is less.',
    }),
  })
  .openapi('RecordingPeaks');
