/** The query of routes that have no parameters: a misspelt or imagined one must not pass for understood. */
import { z } from '@hono/zod-openapi';

/** Every parameter is refused by its name. */
export const noQuery = z.strictObject({});
