/** What requests for erasure look like in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';

export const eraseNumberSchema = z
  .strictObject({
    phoneNumber: z.string().openapi({
      description: 'As calls show it in `from` or `to`: mostly E.164.',
      example: '+390612345678',
    }),
  })
  .openapi('EraseNumber');

export const erasedNumberSchema = z
  .object({
    id: z.string().openapi({ example: 'ers_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    calls: z.int().openapi({ description: 'Calls that are over: they are erased now.' }),
    recordings: z.int().openapi({ description: 'Of these calls.' }),
    callsInProgress: z.int().openapi({ description: 'Calls that are erased when they are over.' }),
  })
  .openapi('ErasedNumber');
