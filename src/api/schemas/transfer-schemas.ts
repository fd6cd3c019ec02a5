/** What a wish to hand a call over and its answer look like: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { TRANSFER_MODES } from '../../domain/agent/transfer-rules.ts';

const SUMMARY_CHARS_MAX = 500;

export const transferCallSchema = z
  .strictObject({
    to: z.string().openapi({ description: 'E.164.', example: '+390612345678' }),
    mode: z
      .enum(TRANSFER_MODES)
      .default('cold')
      .openapi({
        description:
          '`cold`: the third party is connected to the caller at once. `warm`: the agent first tells the third party, alone, what the call is about. ' +
          '`three-way`: likewise, and then the agent stays: all three hear one another until one of them hangs up, or the agent leaves.',
      }),
    summary: z.string().max(SUMMARY_CHARS_MAX).default('').openapi({
      description:
        'What the caller wants: said to the third party, except in a `cold` transfer, and sent with `call.bridged`.',
      example: 'The caller asks for a refund of order 7.',
    }),
  })
  .openapi('TransferCall');

export const transferringCallSchema = z
  .object({
    id: z.string().openapi({ example: 'call_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    callId: z
      .string()
      .openapi({ description: 'The same, as the other requests that steer a call name it.' }),
    status: z.literal('transferring'),
  })
  .openapi('TransferringCall');
