/** What telephone numbers look like in queries and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { pageOf, pagingFields } from './paging-schema.ts';

const number = z.string().openapi({
  description: 'E.164, or the beginning of numbers and a star.',
  example: '+390612345678',
});

export const phoneNumberSchema = z
  .object({
    number,
    trunks: z.array(z.string()).openapi({
      description: 'The trunks that bring its calls; none: nothing rings there.',
      example: ['acme'],
    }),
    accountId: z.string().nullable().openapi({
      description:
        'The account that may use it: that of its assignment, else of its trunk. null: any, since no trunk has it.',
    }),
    agentId: z
      .string()
      .nullable()
      .openapi({ description: 'The agent of this account that answers.' }),
    agentName: z.string().nullable(),
    isTaken: z.boolean().openapi({
      description: 'Whether an agent answers, of this account or another. Another’s is not named.',
    }),
  })
  .openapi('PhoneNumber');

export const phoneNumberPathSchema = z.object({ number });

export const assignNumberSchema = z
  .strictObject({
    accountId: z.string().openapi({ example: 'acct_0VbZOZK8iLGcXSKvcmQMdaX5' }),
  })
  .openapi('AssignNumber');

export const phoneNumberPageSchema = pageOf(phoneNumberSchema).openapi('PhoneNumberPage');

export const phoneNumberQuerySchema = z.strictObject(pagingFields({ default: 100, max: 500 }));
