/** The form of an event of a stream of Server-Sent Events. */
import { z } from '@hono/zod-openapi';

/** @param name of the schema in the OpenAPI document. */
export function eventOf<const Name extends string, Data extends z.ZodType>(
  event: Name,
  name: string,
  data: Data,
) {
  return z.object({ event: z.literal(event), data }).openapi(name);
}
