/** Calendar days in queries and bodies, as UTC. */
import { z } from '@hono/zod-openapi';

const DAY_MS = 86_400_000;

/** A day that exists, as it was written. */
export const day = z.iso.date('expected a date that exists, as YYYY-MM-DD');

/** Becomes the first instant of the day. */
export const dayStart = day.transform((text) => new Date(`${text}T00:00:00.000Z`));

/** Becomes the first instant of the day after it, so that the day itself is inside. */
export const dayEnd = day.transform(
  (text) => new Date(new Date(`${text}T00:00:00.000Z`).getTime() + DAY_MS),
);

/** What the documentation says of such a field. */
export const dayDocs = { type: 'string', format: 'date', example: '2026-11-21' } as const;
