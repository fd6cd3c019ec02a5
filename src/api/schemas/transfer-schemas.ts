/** What a wish to hand a call over and its answer look like: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';

export const transferCallSchema = z
  .strictObject({
    to: z.string().openapi({ description: 'E.164.', example: '+390612345678' }),
  })
  .openapi('TransferCall');

export const transferringCallSchema = z
  .object({
    id: z.string().openapi({ example: 'call_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    status: z.literal('transferring'),
  })
  .openapi('TransferringCall');
